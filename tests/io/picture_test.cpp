#include <sys/resource.h>

#include <cmath>

#include "demix/pictures.hpp"
#include "demix/random.hpp"
#include "picture_files.hpp"
#include "picture_support.hpp"

/// What is true of pictures of every kind.
namespace demix::io {
namespace {

using testing::PngFile;
using testing::TiffFile;
namespace fs = std::filesystem;

TEST_F(Pictures, RoundTripOfEveryKindAndSize) {
  for (const std::string& ext : extensions()) {
    for (const auto& [width, height] : {std::pair{1, 1}, {1, 17}, {17, 1}, {13, 6}, {64, 48}}) {
      for (const Index channels : {1, 3}) {
        const Matrix<double> X = waves(width, height, channels);
        const fs::path file = write("p" + ext, shape(width, height, channels), X, 7);
        const Seen back = open(file, true);
        const double step = ext == ".jpg" ? (channels == 1 ? 3.0 : 5.0) / 255 : 0.5001 / 65535;
        ASSERT_EQ(back.data.rows(), channels) << ext;
        ASSERT_EQ(back.data.cols(), X.cols()) << ext;
        EXPECT_LE((back.data - X).cwiseAbs().maxCoeff(), step) << ext << " " << width << " x " << height;
        EXPECT_EQ(back.info.width, width);
        EXPECT_EQ(back.info.height, height);
        EXPECT_EQ(back.info.names, shape(1, 1, channels).names);
        EXPECT_TRUE(back.info.notes.empty());
      }
    }
  }
}

TEST_F(Pictures, ReadInAnyBlocksAndAgain) {
  for (const std::string& ext : extensions()) {
    const fs::path file = write("p" + ext, shape(9, 11), waves(9, 11, 1), 99);
    const Matrix<double> all = open(file).data;
    const auto reader = open_signals(file);
    for (const Index block : {1, 4, 9, 100}) {
      reader->rewind();
      Matrix<double> part(1, block);
      Index at = 0;
      while (const Index got = reader->read(part)) {
        EXPECT_EQ(part.leftCols(got), all.middleCols(at, got));
        at += got;
      }
      EXPECT_EQ(at, 99);
    }
    EXPECT_DOUBLE_EQ(reader->resolution(), ext == ".jpg" ? 1.0 / 255 : 1.0 / 65535);
  }
}

TEST_F(Pictures, ColourIsGreyByLumaUnlessPlanesAreWanted) {
  const Eigen::RowVector3d luma(0.2126, 0.7152, 0.0722);
  for (const std::string& ext : extensions()) {
    const fs::path file = write("p" + ext, shape(20, 10, 3), waves(20, 10, 3), 200);
    const Seen planes = open(file, true);
    const Seen grey = open(file);
    EXPECT_EQ(grey.info.channels, 1);
    EXPECT_TRUE(grey.info.names.empty());
    EXPECT_LE((luma * planes.data - grey.data).cwiseAbs().maxCoeff(), 1e-12) << ext;
    EXPECT_GT((planes.data.row(0) - planes.data.row(2)).cwiseAbs().maxCoeff(), 0.1);
    write("g" + ext, shape(20, 10), waves(20, 10, 1), 200);
    EXPECT_EQ(open(path("g" + ext), true).info.channels, 1);  // grey has no planes
  }
}

TEST_F(Pictures, ValuesAreCutAndNeverWrapRound) {
  Matrix<double> X(1, 6);
  X << -0.1, 0, 0.5, 1, 1.1, 1e300;
  Matrix<double> cut(1, 6);
  cut << 0, 0, 32768.0 / 65535, 1, 1, 1;
  for (const std::string& ext : extensions()) {
    if (ext == ".jpg") continue;
    EXPECT_EQ(open(write("p" + ext, shape(3, 2), X, 6)).data, cut) << ext;
  }
  X(3) = std::nan("");
  EXPECT_THROW(write("n.pgm", shape(3, 2), X, 6), Error);
  EXPECT_FALSE(fs::exists(path("n.pgm")));
}

TEST_F(Pictures, WritersRefuseWhatIsNoPicture) {
  const auto refused = [&](const SignalInfo& info, Index pixels, const std::string& part) {
    for (const std::string& ext : extensions()) {
      try {
        write("p" + ext, info, Matrix<double>::Zero(info.channels, pixels), 5);
        ADD_FAILURE() << ext << " accepted; expected: " << part;
      } catch (const Error& e) {
        EXPECT_NE(std::string(e.what()).find(part), std::string::npos) << e.what();
        EXPECT_EQ(std::string(e.what()).find(path("p" + ext).string() + ": "), 0U) << e.what();
      }
      EXPECT_FALSE(fs::exists(path("p" + ext)));
    }
  };
  refused(shape(0, 0), 6, "not known");
  refused(shape(3, 2, 2), 6, "one channel");
  SignalInfo unnamed = shape(3, 2, 3);
  unnamed.names.clear();
  refused(unnamed, 6, "named R, G and B");
  refused(shape(3, 2), 5, "fewer");
  refused(shape(3, 2), 7, "more");
  refused(shape(Index{1} << 40, Index{1} << 40), 1, "too many");
}

TEST_F(Pictures, KnownByWhatIsInThemNotByName) {
  EXPECT_EQ(read("P2 1 1 2 1", ".png").data(0), 0.5);
  expect_refused("GIF89a...", ".png", "not a picture");
  expect_refused("", ".jpg", "empty");
  EXPECT_THROW(open(path("none.png")), Error);
  fs::create_directories(path("folder.png"));
  EXPECT_THROW(open(path("folder.png")), Error);
}

long peak_kilobytes() {
  struct rusage usage {};
  ::getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

TEST_F(Pictures, MemoryIsNotAskedForBecauseAHeaderSaysSo) {
  const long before = peak_kilobytes();
  const std::string huge = std::to_string(1 << 30);
  expect_refused("P5 " + huge + " " + huge + " 255\n", ".pgm", "too many");
  expect_refused("P2 16384 16384 255\n1 2 3", ".pgm", "cannot hold");
  expect_refused("P5 1000 1000 255\nAAAA", ".pgm", "cut off");
#ifdef DEMIX_HAVE_PNG
  for (const bool interlaced : {false, true}) {
    PngFile png{.width = 1U << 30, .height = 1U << 30, .interlaced = interlaced, .samples = {}};
    const std::string end = testing::png_chunk("IDAT", testing::stored(std::string(40, '\0')));
    expect_refused(png.head() + end, ".png", "too many");
    png.width = png.height = 1 << 14;
    expect_refused(png.head() + end, ".png", "cannot hold");
    png.width = png.height = 1 << 10;
    expect_refused(png.head() + end, ".png", "cut off");
    // Long enough to hold it, perhaps, but it does not.
    png.width = png.height = 1 << 14;
    expect_refused(png.head() + testing::png_chunk("teXt", std::string(1 << 16, 'a')) + end, ".png",
                   "cut off");
  }
#endif
#ifdef DEMIX_HAVE_TIFF
  TiffFile tiff{.width = 1U << 30, .height = 1U << 30, .parts = {"A"}};
  expect_refused(tiff.bytes(), ".tif", "too many");
  tiff.width = tiff.height = 1 << 14;
  expect_refused(tiff.bytes(), ".tif", "cannot hold");
  tiff.width = tiff.height = 1 << 10;
  expect_refused(tiff.bytes(), ".tif", "cut off");
  tiff.tile = 1 << 30;
  expect_refused(tiff.bytes(), ".tif", "too many");
#endif
#ifdef DEMIX_HAVE_JPEG
  std::string jpeg = read_file(write("j.jpg", shape(8, 8), waves(8, 8, 1), 64));
  const std::size_t at = jpeg.find("\xff\xc0") + 5;
  jpeg.replace(at, 4, "\xff\xdc\xff\xdc");
  expect_refused(jpeg, ".jpg", "too many");
  jpeg.replace(at, 4, std::string("\x40\0\x40\0", 4));
  expect_refused(jpeg, ".jpg", "cannot hold");
  jpeg.replace(at, 4, std::string("\4\0\4\0", 4));
  expect_refused(jpeg, ".jpg", "cut off");
#endif
  EXPECT_LT(peak_kilobytes() - before, 100 * 1024);
}

TEST_F(Pictures, CutOffAnywhereIsAnError) {
  for (const std::string& ext : extensions()) {
    for (const Index channels : {1, 3}) {
      const SignalInfo info = shape(23, 19, channels);
      const std::string good = read_file(write("p" + ext, info, waves(23, 19, channels), 437));
      const std::size_t step = std::max<std::size_t>(1, good.size() / 400);
      for (std::size_t cut = 0; cut < good.size(); cut += cut + 64 < good.size() ? step : 1) {
        EXPECT_THROW(read(good.substr(0, cut), ext), Error) << ext << " " << cut << " of " << good.size();
      }
    }
  }
}

// An answer or an Error, nothing else. (The sanitizers watch.)
TEST_F(Pictures, DamagedBytesNeverCrash) {
  Random random(3);
  std::vector<std::pair<std::string, std::string>> good;
  for (const std::string& ext : extensions()) {
    good.emplace_back(ext, read_file(write("p" + ext, shape(23, 19, 3), waves(23, 19, 3), 437)));
  }
#ifdef DEMIX_HAVE_TIFF
  good.emplace_back(".tif", TiffFile{.width = 20,
                                     .height = 10,
                                     .apart = true,
                                     .tile = 16,
                                     .parts = {std::string(256, 'a'), std::string(256, 'b')}}
                                .bytes());
  good.emplace_back(".tif", TiffFile{.width = 4, .height = 1, .bits = 1, .parts = {"\x50"}}.bytes());
#endif
  for (const auto& [ext, bytes] : good) {
    for (int k = 0; k < 1000; ++k) {
      std::string bad = bytes;
      const auto range = static_cast<Index>(k % 2 == 0 ? bad.size() : std::min<std::size_t>(bad.size(), 200));
      for (int hits = 0; hits < 3; ++hits) {
        bad[static_cast<std::size_t>(random.below(range))] = static_cast<char>(random.bits());
      }
      try {
        const Seen seen = read(bad, ext, true);
        EXPECT_EQ(seen.data.cols(), seen.info.width * seen.info.height);
      } catch (const Error& e) {
        EXPECT_EQ(std::string(e.what()).find('\n'), std::string::npos) << e.what();
      }
    }
  }
}

TEST(Shrink, KeepsTheMeanAndTheProportions) {
  const Matrix<double> X = Random(1).normal(31, 57);
  for (const Index width : {1, 2, 19, 40, 56}) {
    const Matrix<double> small = shrink(X, width);
    EXPECT_EQ(small.cols(), width);
    EXPECT_EQ(small.rows(), std::max<Index>(1, std::lround(31.0 * static_cast<double>(width) / 57)));
    EXPECT_NEAR(small.mean(), X.mean(), 1e-12);
  }
  EXPECT_EQ(shrink(X, 57), X);
  EXPECT_EQ(shrink(X, 100), X);
  Matrix<double> blocks(2, 4);
  blocks << 1, 3, 10, 10, 5, 7, 10, 30;
  EXPECT_EQ(shrink(blocks, 2), (Matrix<double>(1, 2) << 4, 15).finished());
  EXPECT_NEAR(shrink((Matrix<double>(1, 3) << 0, 3, 6).finished(), 2)(0, 0), 1, 1e-15);  // 0 and half of 3
  EXPECT_THROW(shrink(X, 0), std::invalid_argument);
}

}  // namespace
}  // namespace demix::io
