#include <cmath>

#include "demix/pictures.hpp"
#include "demix/random.hpp"
#include "picture_files.hpp"
#include "picture_support.hpp"

/// PNG, TIFF and PNM, each with its own depths and layouts.
namespace demix::io {
namespace {

using testing::PngFile;
using testing::TiffFile;

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
        EXPECT_EQ(seen.info.notes.size(), kind == 4 || kind == 6 ? 1U : 0U);
      }
    }
  }
}

TEST_F(Pictures, TransparencyIsNotedOnlyWhereThereIsSome) {
  PngFile png{.width = 2, .height = 1, .kind = 4, .samples = {10, 255, 20, 255}};
  EXPECT_TRUE(read(png.bytes(), ".png").info.notes.empty());
  png.samples[3] = 254;
  const Seen seen = read(png.bytes(), ".png");
  ASSERT_EQ(seen.info.notes.size(), 1U);
  EXPECT_NE(seen.info.notes[0].find("transparen"), std::string::npos);
  EXPECT_EQ(seen.data, (Matrix<double>(1, 2) << 10 / 255.0, 20 / 255.0).finished());
  const PngFile key{.width = 2, .height = 1, .chunks = testing::png_chunk("tRNS", {0, 7}), .samples = {7, 8}};
  EXPECT_EQ(read(key.bytes(), ".png").info.notes.size(), 1U);
}

TEST_F(Pictures, PngForAPage) {
  Matrix<double> grey(2, 3);
  grey << 0, 0.2, 1, 0.4, 2, -1;
  const Seen seen = read(to_png8(grey), ".png");
  EXPECT_EQ(seen.info.width, 3);
  EXPECT_EQ(seen.info.height, 2);
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
std::string bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

TEST_F(Pictures, TiffAsOthersWriteIt) {
  const auto grey = [&](const TiffFile& f) { return read(f.bytes(), ".tif").data; };
  const Matrix<double> ramp = (Matrix<double>(1, 4) << 0, 51, 102, 255).finished() / 255;
  EXPECT_EQ(grey({.width = 2, .height = 2, .parts = {std::string("\0\x33\x66\xff", 4)}}), ramp);
  EXPECT_EQ(grey({.width = 2, .height = 2, .photometric = 0, .parts = {std::string("\xff\xcc\x99\0", 4)}}),
            ramp);
  EXPECT_EQ(grey({.width = 2,
                  .height = 2,
                  .bits = 16,
                  .parts = {bytes_of<std::uint16_t>({0, 13107, 26214, 65535})}}),
            ramp);
  const std::vector<float> floats = {0.25F, -3, 1, 1e9F};
  const Matrix<double> read_floats =
      grey({.width = 4, .height = 1, .bits = 32, .format = 3, .parts = {bytes_of(floats)}});
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
  EXPECT_TRUE(colours.info.notes.empty());
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
            f.parts.push_back(bytes_of(part));
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
  ASSERT_EQ(first.info.notes.size(), 1U);
  EXPECT_NE(first.info.notes[0].find("pages"), std::string::npos);
  TiffFile more{.width = 1, .height = 1, .samples = 2, .parts = {"A\x10"}, .extra = 0};
  EXPECT_TRUE(read(more.bytes(), ".tif").info.notes.empty());  // no alpha
  more.extra = 2;
  EXPECT_EQ(read(more.bytes(), ".tif").info.notes.size(), 1U);
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
  EXPECT_EQ(read("P5 1 1 255\nAP5 1 1 255\nB", ".pgm").info.notes.size(), 1U);
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

}  // namespace
}  // namespace demix::io
