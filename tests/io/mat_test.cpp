#include "io/bytes.hpp"
#include "io/file_support.hpp"
#include "io/mat_writing.hpp"

namespace demix::io {
namespace {

std::string matrix(const std::string& name, const Matrix<double>& values) {
  const auto bytes = static_cast<std::size_t>(values.size()) * 8;
  const mat::Around around = mat::around_numbers(name, mat::Class::real64, mat::type_double,
                                                 static_cast<std::uint32_t>(values.rows()),
                                                 static_cast<std::uint32_t>(values.cols()), bytes);
  return around.before + std::string(reinterpret_cast<const char*>(values.data()), bytes) + around.after;
}

TEST(Mat, RoundTrip) {
  const auto path = test_file("x.mat");
  const Matrix<double> X = Random(1).normal(3, 257);
  write(path, X, {.channels = 3, .rate = 250.5});
  const auto reader = open_signals(path);
  EXPECT_EQ(reader->info().rate, 250.5);
  EXPECT_TRUE(reader->info().notes.empty());
  EXPECT_EQ(read_all(*reader), X);
  reader->rewind();
  EXPECT_EQ(read_all(*reader), X);
}

TEST(Mat, TheLongerSideIsTime) {
  const auto path = test_file("x.mat");
  const Matrix<double> X = Random(1).normal(3, 20);
  put(path, mat::file_head() + matrix("x", X));
  auto reader = open_signals(path);
  EXPECT_EQ(read_all(*reader), X);
  ASSERT_EQ(reader->info().notes.size(), 1U);
  EXPECT_COMPLAINT(reader->info().notes[0], "'x': has 3 rows and 20 columns; the rows are taken as channels");
  put(path, mat::file_head() + matrix("x", X.row(0)));
  reader = open_signals(path);
  EXPECT_EQ(read_all(*reader), Matrix<double>(X.row(0)));
  EXPECT_TRUE(reader->info().notes.empty());
}

TEST(Mat, TheVariableAskedForOrTheOnlyOne) {
  const auto path = test_file("x.mat");
  const Matrix<double> X = Random(1).normal(20, 3);
  const std::string number = mat::number_array("Fs", 100);
  put(path, mat::file_head() + number + matrix("x", X) + mat::number_array("other", 3));
  EXPECT_EQ(open_signals(path)->info().rate, 100);
  put(path, mat::file_head() + matrix("x", X) + number + matrix("y", 2 * X));
  EXPECT_COMPLAINT(complaint(path),
                   "holds several arrays, x (20 x 3), y (20 x 3); choose one with `variable`");
  ReadOptions options;
  options.variable = "y";
  EXPECT_EQ(read_all(*open_signals(path, options)), Matrix<double>(2 * X.transpose()));
  options.variable = "z";
  EXPECT_COMPLAINT(complaint(path, options), "has no array 'z'; it holds x (20 x 3), Fs (1 x 1), y (20 x 3)");
}

TEST(Mat, WhatIsWrongIsSaid) {
  const auto path = test_file("x.mat");
  put(path, "");
  EXPECT_COMPLAINT(complaint(path), "empty");
  put(path, std::string(200, 'x'));
  EXPECT_COMPLAINT(complaint(path), "not a MATLAB file of version 5 to 7");
  put(path, "MATLAB 7.3 MAT-file, Platform: GLNXA64" + std::string(600, ' '));
  EXPECT_COMPLAINT(complaint(path), "version 7.3 (HDF5), which is not supported; save it with -v7");
  put(path, mat::file_head());
  EXPECT_COMPLAINT(complaint(path), "has no array of numbers");
  put(path,
      mat::file_head() + mat::struct_head("s", 1, {"a"}, mat::empty_array().size()) + mat::empty_array());
  ReadOptions options;
  options.variable = "s";
  EXPECT_COMPLAINT(complaint(path, options), "'s' is a struct");
  // More numbers than there are.
  std::string large = mat::file_head() + matrix("x", Random(1).normal(20, 3));
  const std::uint32_t rows = 0x7fffffff;
  std::memcpy(large.data() + 128 + 8 + 16 + 8, &rows, 4);
  put(path, large);
  EXPECT_COMPLAINT(complaint(path), "'x' should be 2147483647 x 3 numbers but holds 480 bytes");
}

TEST(Mat, DamagedFilesNeverCrash) {
  const auto path = test_file("x.mat");
  write(path, Random(1).normal(2, 20), {.channels = 2, .rate = 100});
  const std::string whole = read_file(path);
  put(path, whole.substr(0, whole.size() - mat::number_array("fs", 100).size()));
  expect_damage_is_survived(path);
}

}  // namespace
}  // namespace demix::io
