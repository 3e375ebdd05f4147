#include "io/bytes.hpp"
#include "io/deflate.hpp"
#include "io/file_support.hpp"
#include "io/zip.hpp"
#include "io/zip_support.hpp"

namespace demix::io {
namespace {

TEST(Npz, RoundTrip) {
  const auto path = test_file("x.npz");
  const Matrix<double> X = Random(1).normal(3, 257);
  write(path, X, {.channels = 3});
  const auto reader = open_signals(path);
  EXPECT_EQ(read_all(*reader), X);
  reader->rewind();
  EXPECT_EQ(read_all(*reader), X);
  ReadOptions options;
  options.variable = "data";
  options.rate = 100;
  EXPECT_EQ(open_signals(path, options)->info().rate, 100);
  options.variable = "dat";
  EXPECT_COMPLAINT(complaint(path, options), "has no array 'dat'; it holds data (257 x 3)");
}

TEST(Npz, IsTheNpyFileInAZipFile) {
  const auto path = test_file("x.npz");
  const Matrix<double> X = Random(1).normal(2, 10);
  write(path, X, {.channels = 2});
  EXPECT_EQ(read_file(path), zipped("data.npy", to_npy(X)));
}

TEST(Npz, SeveralArraysOfAnyDimensions) {
  const auto path = test_file("x.npz");
  put(path,
      to_npz({{"scenario 1/W", {2, 1, 3}, {1, 2, 3, 4, 5, 6}}, {"stride", {}, {7}}, {"y", {3}, {8, 9, 10}}}));
  const auto members = zip::members(std::make_shared<const FileBytes>(path));
  ASSERT_EQ(members.size(), 3u);
  EXPECT_EQ(members[0].name, "scenario 1/W.npy");
  const std::string W = zip::content(members[0], members[0].size, "");  // checksum and size are checked
  EXPECT_NE(W.find("'shape': (2, 1, 3), }"), std::string::npos);
  EXPECT_EQ(load<double>(W.data() + W.size() - 8), 6);
  EXPECT_NE(zip::content(members[1], members[1].size, "").find("'shape': (), }"), std::string::npos);
  EXPECT_NE(zip::content(members[2], members[2].size, "").find("'shape': (3,), }"), std::string::npos);
  ReadOptions options;
  options.variable = "y";
  EXPECT_EQ(read_all(*open_signals(path, options)), (Matrix<double>{{8, 9, 10}}));
}

TEST(Npz, WhatIsWrongIsSaid) {
  const auto path = test_file("x.npz");
  put(path, "");
  EXPECT_COMPLAINT(complaint(path), "empty");
  put(path, "not a zip file");
  EXPECT_COMPLAINT(complaint(path), "not a zip file");
  const std::string good = zipped("a.npy", to_npy(Random(1).normal(2, 10)));
  put(path, good.substr(0, good.size() - 30));
  EXPECT_COMPLAINT(complaint(path), "cut off");
  put(path, zipped("a.npy", "no array"));
  EXPECT_COMPLAINT(complaint(path), "array 'a': not an NPY file");
  put(path, zipped("a\n.npy", "no array"));
  EXPECT_COMPLAINT(complaint(path), "array 'a?'");
}

// 2^60 numbers that are not there.
TEST(Npz, WhatAHeaderClaimsIsNotAllocated) {
  const auto path = test_file("x.npz");
  std::string array = to_npy(Random(1).normal(2, 10));
  array.replace(array.find("(10, 2)"), 7, "(1152921504606846976,)");
  put(path, zipped("a.npy", array));
  EXPECT_COMPLAINT(complaint(path), "damaged or cut off");
  // The directory claims them too.
  std::string large = zipped("a.npy", array);
  const std::uint64_t claimed = (std::uint64_t{1} << 63) + 128;
  for (std::size_t at = large.find("a.npy"); at != std::string::npos; at = large.find("a.npy", at + 1))
    std::memcpy(large.data() + at + 9, &claimed, 8);
  put(path, large);
  EXPECT_NE(complaint(path), "");
}

TEST(Npz, DamagedFilesNeverCrash) {
  const auto path = test_file("x.npz");
  write(path, Random(1).normal(2, 20), {.channels = 2});
  expect_damage_is_survived(path);
}

}  // namespace
}  // namespace demix::io
