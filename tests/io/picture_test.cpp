#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <fstream>

#include "demix/pictures.hpp"
#include "demix/random.hpp"
#include "demix/signal_files.hpp"
#include "picture_files.hpp"
#include "support.hpp"

namespace demix::io {
namespace {

using testing::PngFile;
using testing::TiffFile;
namespace fs = std::filesystem;

struct Seen {
  Facts facts;
  Matrix<double> data;
};

class Pictures : public ::testing::Test {
 protected:
  Pictures() : folder_(fs::path(::testing::TempDir()) / ("pictures-" + std::to_string(::getpid()))) {
    fs::create_directories(folder_);
  }
  ~Pictures() override { fs::remove_all(folder_); }

  fs::path path(const std::string& name) const { return folder_ / name; }

  Seen open(const fs::path& file, bool planes = false) const {
    ReadOptions options;
    options.planes = planes;
    const FileRecording recording({file}, options);
    return {recording.facts(), gather(recording)};
  }
  Seen read(const std::string& bytes, const std::string& ext, bool planes = false) const {
    fs::remove(path("x" + ext));  // some systems wait for the disk where a file is overwritten
    std::ofstream(path("x" + ext), std::ios::binary) << bytes;
    return open(path("x" + ext), planes);
  }

  fs::path write(const std::string& name, const Facts& facts, const Matrix<double>& data, Index block) const {
    NewFiles files;
    const auto writer = create_signals(files, path(name), facts, {});
    for (Index at = 0; at < data.cols(); at += block) {
      writer->write(data.middleCols(at, std::min(block, data.cols() - at)));
    }
    writer->finish();
    files.commit();
    return path(name);
  }

  void expect_refused(const std::string& bytes, const std::string& ext, const std::string& part) const {
    try {
      read(bytes, ext);
      ADD_FAILURE() << "accepted; expected: " << part;
    } catch (const Error& e) {
      const std::string text = e.what();
      EXPECT_NE(text.find(part), std::string::npos) << text;
      EXPECT_EQ(text.find(path("x" + ext).string() + ": "), 0U) << text;
      EXPECT_EQ(text.find('\n'), std::string::npos) << text;
    }
  }

 private:
  fs::path folder_;
};

Facts shape(Index width, Index height, Index channels = 1) {
  Facts f;
  f.width = width;
  f.height = height;
  f.channels = channels;
  if (channels == 3) f.names = {"R", "G", "B"};
  return f;
}

// What this build can read and write; PGM is always there.
std::vector<std::string> extensions() {
  std::vector<std::string> all;
#ifdef DEMIX_HAVE_PNG
  all.emplace_back(".png");
#endif
#ifdef DEMIX_HAVE_JPEG
  all.emplace_back(".jpg");
#endif
#ifdef DEMIX_HAVE_TIFF
  all.emplace_back(".tif");
#endif
  all.emplace_back(".pgm");
  return all;
}

// Smooth, as JPEG likes it; each channel its own slope.
Matrix<double> waves(Index width, Index height, Index channels) {
  Matrix<double> out(channels, width * height);
  for (Index i = 0; i < out.size(); ++i) {
    const auto x = static_cast<double>(i / channels % width);
    const auto y = static_cast<double>(i / channels / width);
    out.data()[i] = 0.5 + 0.45 * std::sin(0.05 * x + 0.03 * y * static_cast<double>(1 + i % channels));
  }
  return out;
}

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
        EXPECT_EQ(back.facts.width, width);
        EXPECT_EQ(back.facts.height, height);
        EXPECT_EQ(back.facts.names, shape(1, 1, channels).names);
        EXPECT_TRUE(back.facts.notes.empty());
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
    EXPECT_EQ(grey.facts.channels, 1);
    EXPECT_TRUE(grey.facts.names.empty());
    EXPECT_LE((luma * planes.data - grey.data).cwiseAbs().maxCoeff(), 1e-12) << ext;
    EXPECT_GT((planes.data.row(0) - planes.data.row(2)).cwiseAbs().maxCoeff(), 0.1);
    write("g" + ext, shape(20, 10), waves(20, 10, 1), 200);
    EXPECT_EQ(open(path("g" + ext), true).facts.channels, 1);  // grey has no planes
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
  const auto refused = [&](const Facts& facts, Index pixels, const std::string& part) {
    for (const std::string& ext : extensions()) {
      try {
        write("p" + ext, facts, Matrix<double>::Zero(facts.channels, pixels), 5);
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
  Facts unnamed = shape(3, 2, 3);
  unnamed.names.clear();
  refused(unnamed, 6, "named R, G and B");
  refused(shape(3, 2), 5, "fewer");
  refused(shape(3, 2), 7, "more");
  refused(shape(Index{1} << 40, Index{1} << 40), 1, "too many");
}

#ifdef DEMIX_HAVE_PNG
TEST_F(Pictures, PngOfEveryDepthAndKind) {
  Random random(1);
  for (const bool interlaced : {false, true}) {
    for (const int kind : {0, 2, 3, 4, 6}) {
      for (const int bits : {1, 2, 4, 8, 16}) {
        if ((kind == 3 && bits == 16) || (kind != 0 && kind != 3 && bits < 8)) continue;
        PngFile png{
            .width = 11, .height = 9, .bits = bits, .kind = kind, .interlaced = interlaced, .samples = {}};
        const int white = (1 << bits) - 1;
        for (int i = 0; i < 99 * png.per_pixel(); ++i) {
          png.samples.push_back(static_cast<std::uint16_t>(random.below(white + 1)));
        }
        std::string palette;
        for (int i = 0; i < 3 * (kind == 3 ? white + 1 : 0); ++i)
          palette += static_cast<char>(random.below(256));
        if (kind == 3) png.chunks = testing::png_chunk("PLTE", palette);

        const Seen seen = read(png.bytes(), ".png", true);
        const Index colours = kind == 0 || kind == 4 ? 1 : 3;
        ASSERT_EQ(seen.data.rows(), colours);
        ASSERT_EQ(seen.data.cols(), 99);
        for (int i = 0; i < 99; ++i) {
          for (int c = 0; c < colours; ++c) {
            const int v = png.samples[static_cast<std::size_t>(i * png.per_pixel() + (kind == 3 ? 0 : c))];
            const double expected =
                kind == 3 ? static_cast<unsigned char>(palette[static_cast<std::size_t>(3 * v + c)]) / 255.0
                          : static_cast<double>(v) / white;
            EXPECT_NEAR(seen.data(c, i), expected, 1e-12) << kind << " " << bits << " " << interlaced;
          }
        }
        EXPECT_EQ(seen.facts.notes.size(), kind == 4 || kind == 6 ? 1U : 0U);
      }
    }
  }
}

TEST_F(Pictures, TransparencyIsNotedOnlyWhereThereIsSome) {
  PngFile png{.width = 2, .height = 1, .kind = 4, .samples = {10, 255, 20, 255}};
  EXPECT_TRUE(read(png.bytes(), ".png").facts.notes.empty());
  png.samples[3] = 254;
  const Seen seen = read(png.bytes(), ".png");
  ASSERT_EQ(seen.facts.notes.size(), 1U);
  EXPECT_NE(seen.facts.notes[0].find("transparen"), std::string::npos);
  EXPECT_EQ(seen.data, (Matrix<double>(1, 2) << 10 / 255.0, 20 / 255.0).finished());
  const PngFile key{.width = 2, .height = 1, .chunks = testing::png_chunk("tRNS", {0, 7}), .samples = {7, 8}};
  EXPECT_EQ(read(key.bytes(), ".png").facts.notes.size(), 1U);
}

TEST_F(Pictures, PngForAPage) {
  Matrix<double> grey(2, 3);
  grey << 0, 0.2, 1, 0.4, 2, -1;
  const Seen seen = read(to_png8(grey), ".png");
  EXPECT_EQ(seen.facts.width, 3);
  EXPECT_EQ(seen.facts.height, 2);
  Matrix<double> expected(1, 6);
  expected << 0, 51, 255, 102, 255, 0;
  EXPECT_EQ(seen.data, expected / 255);
  grey(0) = std::nan("");
  EXPECT_THROW(to_png8(grey), Error);
  EXPECT_THROW(to_png8(Matrix<double>(0, 3)), std::invalid_argument);
}
#endif

#ifdef DEMIX_HAVE_TIFF
template <typename T>
std::string raw(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_F(Pictures, TiffAsOthersWriteIt) {
  using testing::TiffFile;
  const auto grey = [&](const TiffFile& f) { return read(f.bytes(), ".tif").data; };
  const Matrix<double> ramp = (Matrix<double>(1, 4) << 0, 51, 102, 255).finished() / 255;
  EXPECT_EQ(grey({.width = 2, .height = 2, .parts = {std::string("\0\x33\x66\xff", 4)}}), ramp);
  EXPECT_EQ(grey({.width = 2, .height = 2, .photometric = 0, .parts = {std::string("\xff\xcc\x99\0", 4)}}),
            ramp);
  EXPECT_EQ(
      grey({.width = 2, .height = 2, .bits = 16, .parts = {raw<std::uint16_t>({0, 13107, 26214, 65535})}}),
      ramp);
  const std::vector<float> floats = {0.25F, -3, 1, 1e9F};
  const Matrix<double> read_floats =
      grey({.width = 4, .height = 1, .bits = 32, .format = 3, .parts = {raw(floats)}});
  for (Index i = 0; i < 4; ++i)
    EXPECT_EQ(read_floats(i), static_cast<double>(floats[static_cast<std::size_t>(i)]));
  // One bit, and a palette: eight pixels in a byte; four.
  EXPECT_EQ(grey({.width = 4, .height = 1, .bits = 1, .parts = {"\x50"}}),
            (Matrix<double>(1, 4) << 0, 1, 0, 1).finished());
  const TiffFile palette{.width = 4,
                         .height = 1,
                         .bits = 2,
                         .photometric = 3,
                         .parts = {"\x1b"},
                         .palette = {0, 0, 0, 65535, 0, 0, 65535, 65535, 0, 65535, 0, 65535}};
  const Seen colours = read(palette.bytes(), ".tif", true);
  EXPECT_EQ(colours.data, (Matrix<double>(3, 4) << 0, 0, 0, 1, 0, 0, 1, 1, 0, 1, 0, 1).finished());
  EXPECT_TRUE(colours.facts.notes.empty());
}

TEST_F(Pictures, TiffInPlanesTilesAndPages) {
  // A 20 x 18 picture of two-byte pixels, 1 to 360 and so on, in tiles of 16 x 16, the planes together or
  // apart.
  const auto value = [](Index x, Index y, Index c) {
    return static_cast<std::uint16_t>(1000 * c + 20 * y + x);
  };
  for (const bool apart : {false, true}) {
    for (const bool tiled : {false, true}) {
      TiffFile f{.width = 20,
                 .height = 18,
                 .bits = 16,
                 .samples = 3,
                 .photometric = 2,
                 .apart = apart,
                 .tile = tiled ? 16U : 0U,
                 .parts = {}};
      const Index w = tiled ? 16 : 20;
      const Index h = tiled ? 16 : 18;
      for (Index plane = 0; plane < (apart ? 3 : 1); ++plane) {
        for (Index top = 0; top < 18; top += h) {
          for (Index left = 0; left < 20; left += w) {
            std::vector<std::uint16_t> part;
            for (Index y = top; y < top + h; ++y) {
              for (Index x = left; x < left + w; ++x) {
                for (Index c = 0; c < (apart ? 1 : 3); ++c) part.push_back(value(x, y, plane + c));
              }
            }
            f.parts.push_back(raw(part));
          }
        }
      }
      const Seen seen = read(f.bytes(), ".tif", true);
      ASSERT_EQ(seen.data.cols(), 360);
      for (Index i = 0; i < 360; ++i) {
        for (Index c = 0; c < 3; ++c) {
          ASSERT_EQ(seen.data(c, i), value(i % 20, i / 20, c) / 65535.0) << apart << tiled << i;
        }
      }
    }
  }
  const TiffFile pages{.width = 1, .height = 1, .parts = {"A"}, .more = true};
  const Seen first = read(pages.bytes(), ".tif");
  ASSERT_EQ(first.facts.notes.size(), 1U);
  EXPECT_NE(first.facts.notes[0].find("pages"), std::string::npos);
  TiffFile more{.width = 1, .height = 1, .samples = 2, .parts = {"A\x10"}, .extra = 0};
  EXPECT_TRUE(read(more.bytes(), ".tif").facts.notes.empty());  // no alpha
  more.extra = 2;
  EXPECT_EQ(read(more.bytes(), ".tif").facts.notes.size(), 1U);
}

TEST_F(Pictures, UnusualTiffIsRefused) {
  const std::string four(64, '\1');
  expect_refused(TiffFile{.samples = 4, .photometric = 5, .parts = {four}}.bytes(), ".tif", "unusual");
  expect_refused(TiffFile{.bits = 64, .format = 3, .parts = {four}}.bytes(), ".tif", "unusual");
  expect_refused(TiffFile{.bits = 16, .format = 2, .parts = {four}}.bytes(), ".tif", "unusual");
  expect_refused(TiffFile{.bits = 16, .samples = 5, .parts = {four}}.bytes(), ".tif", "unusual");
}
#endif

TEST_F(Pictures, PnmAsTextAndBytes) {
  const Matrix<double> ramp = (Matrix<double>(1, 4) << 0, 0.2, 0.4, 1).finished();
  EXPECT_TRUE(
      read("P2\n# a comment\n2 2 # another\n10\n0 2\n#and\n4 10\n", ".pgm").data.isApprox(ramp, 1e-15));
  EXPECT_TRUE(read("P2 4 1 65535 0 13107 26214 65535", ".pnm").data.isApprox(ramp, 1e-15));
  EXPECT_TRUE(read(std::string("P5\n2 2\n5\n\0\1\2\5", 14), ".pgm").data.isApprox(ramp, 1e-15));
  EXPECT_TRUE(read(std::string("P5 2 2 1280\n\0\0\1\0\2\0\5\0", 20), ".pgm").data.isApprox(ramp, 1e-15));
  const Matrix<double> colour = read("P3 2 1 9 1 2 3 4 5 6", ".ppm", true).data;
  EXPECT_TRUE(colour.isApprox((Matrix<double>(3, 2) << 1, 4, 2, 5, 3, 6).finished() / 9, 1e-15));
  EXPECT_EQ(read("P6 1 2 255\n\x33\x66\x99\x99\x66\x33", ".ppm", true).data(2, 0), 0.6);
  EXPECT_EQ(read("P5 1 1 255\nAP5 1 1 255\nB", ".pgm").facts.notes.size(), 1U);
  expect_refused("P2 2 2 10 1 2 3", ".pgm", "cut off");
  expect_refused("P2 2 2 10 1 2 3 11", ".pgm", "brighter");
  expect_refused("P2 2 2 10 1 2 3 -1", ".pgm", "byte 16");
  expect_refused("P2 2 2 10 1 2 3 x", ".pgm", "damaged");
  expect_refused("P5 2 2 9\nAAAA", ".pgm", "brighter");
  expect_refused("P5 2 2 255\nAAA", ".pgm", "cut off");
  expect_refused("P5 2 2 0\nAAAA", ".pgm", "white");
  expect_refused("P5 2 2 65536\nAAAA", ".pgm", "white");
  expect_refused("P5 0 2 255\n", ".pgm", "empty");
  expect_refused("P7\n", ".pgm", "known kind");
  expect_refused("P5 99999999999 2 255\n", ".pgm", "damaged");
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
      const Facts facts = shape(23, 19, channels);
      const std::string good = read_file(write("p" + ext, facts, waves(23, 19, channels), 437));
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
        EXPECT_EQ(seen.data.cols(), seen.facts.width * seen.facts.height);
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
