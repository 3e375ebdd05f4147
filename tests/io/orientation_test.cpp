#include <unistd.h>

#include "io/deflate.hpp"
#include "io/file_support.hpp"
#include "io/mat_writing.hpp"
#include "io/npy.hpp"
#include "io/zip.hpp"
#include "io/zip_support.hpp"

/// Matrices with channels in their rows: as MNE and MATLAB have them.
namespace demix::io {
namespace {

ReadOptions with(Orientation orientation, Index channels = 0) {
  ReadOptions options;
  options.orientation = orientation;
  options.channels = channels;
  return options;
}

using Floats = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic>;

// The matrix as it would be in Python, row after row or column after column.
std::string npy(const Floats& matrix, bool by_columns) {
  std::string dictionary = std::string("{'descr': '<f4', 'fortran_order': ") +
                           (by_columns ? "True" : "False") + ", 'shape': (" + std::to_string(matrix.rows()) +
                           ", " + std::to_string(matrix.cols()) + "), }\n";
  const Floats memory = by_columns ? matrix : Floats(matrix.transpose());
  return std::string("\x93NUMPY\x01\x00", 8) + static_cast<char>(dictionary.size()) + '\0' + dictionary +
         std::string(reinterpret_cast<const char*>(memory.data()),
                     static_cast<std::size_t>(memory.size()) * 4);
}

std::string mat_file(const Matrix<double>& values) {
  const auto bytes = static_cast<std::size_t>(values.size()) * 8;
  const mat::Around around = mat::around_numbers("x", mat::Class::real64, mat::type_double,
                                                 static_cast<std::uint32_t>(values.rows()),
                                                 static_cast<std::uint32_t>(values.cols()), bytes);
  return mat::file_head() + around.before + std::string(reinterpret_cast<const char*>(values.data()), bytes) +
         around.after;
}

std::string text(const Matrix<double>& matrix, const std::string& delimiter, const std::string& end = "\n") {
  std::ostringstream out;
  out.precision(17);
  for (Index i = 0; i < matrix.rows(); ++i) {
    for (Index j = 0; j < matrix.cols(); ++j) out << (j > 0 ? delimiter : "") << matrix(i, j);
    out << end;
  }
  return out.str();
}

// Read in blocks, and again after rewind().
void expect_reads(const std::filesystem::path& path, const ReadOptions& options, const Matrix<double>& X,
                  std::size_t notes) {
  const auto reader = open_signals(path, options);
  ASSERT_EQ(reader->info().channels, X.rows()) << path;
  EXPECT_EQ(read_all(*reader), X) << path;
  reader->rewind();
  EXPECT_EQ(read_all(*reader), X) << path;
  ASSERT_EQ(reader->info().notes.size(), notes) << path;
  const std::string told =
      ": has 3 rows and 50 columns; the rows are taken as channels, as they are fewer; "
      "give `orientation = frames` if they are frames";
  if (notes > 0) {
    EXPECT_COMPLAINT(reader->info().notes[0], told);
  }
}

TEST(Orientation, FewerRowsThanColumnsAreChannels) {
  const Floats numbers = Random(1).normal(3, 50).cast<float>();
  const Matrix<double> wide = numbers.cast<double>();
  const std::vector<std::pair<std::string, std::string>> files = {
      {"c.npy", npy(numbers, false)},
      {"f.npy", npy(numbers, true)},
      {"c.npz", zipped("x.npy", npy(numbers, false))},
      {"x.mat", mat_file(wide)},
      {"comma.csv", text(wide, ",")},
      {"blanks.txt", "# three channels\n\n" + text(wide, "   ", " \r\n")},
      {"tabs.txt", "\xef\xbb\xbf" + text(wide, "\t", "\t\n")},
      {"semicolon.csv", text(wide, " ; ")}};
  const Matrix<double> tall = wide.transpose();
  for (const auto& [name, bytes] : files) {
    const auto path = test_file(name);
    put(path, bytes);
    expect_reads(path, {}, wide, 1);
    expect_reads(path, with(Orientation::channels), wide, 0);
    expect_reads(path, with(Orientation::frames), tall, 0);
    EXPECT_EQ(read_matrix(path), wide) << name;
  }
}

TEST(Orientation, AsManyRowsAsColumnsAreFrames) {
  const Matrix<double> square = Random(1).normal(4, 4).cast<float>().cast<double>();
  for (const char* name : {"x.npy", "x.csv", "x.mat"}) {
    const auto path = test_file(name);
    put(path, path.extension() == ".npy"   ? npy(square.cast<float>(), false)
              : path.extension() == ".csv" ? text(square, ",")
                                           : mat_file(square));
    expect_reads(path, {}, square.transpose(), 0);
    expect_reads(path, with(Orientation::channels), square, 0);
  }
}

TEST(Orientation, OneRowIsOneChannelAndNotANote) {
  const Matrix<double> row = Random(1).normal(1, 50).cast<float>().cast<double>();
  put(test_file("x.npy"), npy(row.cast<float>(), false));
  expect_reads(test_file("x.npy"), {}, row, 0);
  put(test_file("x.csv"), text(row, ","));
  expect_reads(test_file("x.csv"), {}, row, 0);
}

TEST(Orientation, RawNumbersFollowEachOtherAsAsked) {
  const Matrix<double> X = Random(1).normal(3, 50);
  const Matrix<double> by_channel = X.transpose();
  const std::string bytes(reinterpret_cast<const char*>(by_channel.data()), 150 * 8);
  put(test_file("x.f64"), bytes);
  expect_reads(test_file("x.f64"), with(Orientation::channels, 3), X, 0);
  put(test_file("x.f64"), std::string(reinterpret_cast<const char*>(X.data()), 150 * 8));
  expect_reads(test_file("x.f64"), with(Orientation::frames, 3), X, 0);
  expect_reads(test_file("x.f64"), with(Orientation::automatic, 3), X, 0);
}

TEST(Orientation, NamesAboveColumnsMakeThemChannels) {
  const Signals s = read_as("x.csv", "a,b,c\n1,2,3\n");
  EXPECT_EQ(s.data, (Matrix<double>(3, 1) << 1, 2, 3).finished());
}

TEST(Orientation, ARowMayBeTheTime) {
  Matrix<double> wide = Random(1).normal(3, 50);
  wide.row(0) = Eigen::RowVectorXd::LinSpaced(50, 0, 4.9);
  put(test_file("x.csv"), text(wide, ","));
  const auto reader = open_signals(test_file("x.csv"));
  EXPECT_EQ(reader->info().rate, 10);
  EXPECT_EQ(read_all(*reader), Matrix<double>(wide.bottomRows(2)));
  ASSERT_EQ(reader->info().notes.size(), 2U);
  EXPECT_COMPLAINT(reader->info().notes[1], "the first row counts up evenly");
}

TEST(Orientation, FramesOfAnyPlaceAreRead) {
  const Floats numbers = Random(1).normal(3, 500).cast<float>();
  for (const bool by_columns : {false, true}) {
    put(test_file("x.npy"), npy(numbers, by_columns));
    const auto reader = open_signals(test_file("x.npy"));
    ASSERT_TRUE(reader->random_access());
    Matrix<double> doubles(3, 70);
    reader->read_at(123, doubles);
    EXPECT_EQ(doubles, Matrix<double>(numbers.middleCols(123, 70).cast<double>()));
    ASSERT_TRUE(reader->holds_floats());
    Matrix<float> floats(3, 70);
    reader->read_at(430, floats);
    EXPECT_EQ(floats, Matrix<float>(numbers.rightCols(70)));
  }
}

// Each field must be a number, each line as long as the first, wherever the blocks end.
TEST(Orientation, WhatIsWrongWithALineIsToldWithItsPlace) {
  const auto said = [](const std::string& bytes) {
    put(test_file("x.csv"), bytes);
    const std::string all = complaint(test_file("x.csv"));
    return all.empty() ? all : all.substr(all.find("x.csv: ") + 7);
  };
  std::string long_line = "1";
  for (int k = 1; k < 5000; ++k) long_line += "," + std::to_string(k);
  EXPECT_EQ(said(long_line + "\n\n" + long_line + "\n"), "");
  EXPECT_EQ(said(long_line + "\n#\n" + long_line + ",7,8\n"),
            "line 3 has 5002 values where 5000 were expected; every row must be as long as the first");
  EXPECT_EQ(said(long_line + ",9\n" + long_line),
            "line 2 has 5000 values where 5001 were expected; every row must be as long as the first");
  EXPECT_EQ(said(long_line + "\n" + long_line + ","),
            "line 2 has 5001 values where 5000 were expected; every row must be as long as the first");
  EXPECT_EQ(said(long_line + ",\n" + long_line + ",1"), "line 1, column 5001: '' is not a number");
  EXPECT_EQ(said(long_line + ",x\n" + long_line + ",1"), "line 1, column 5001: 'x' is not a number");
  EXPECT_EQ(said("1," + std::string(200000, '7') + "x,3\n1,2,3\n"),
            "line 1, column 2: '" + std::string(40, '7') + "' is not a number");
}

// The shape as the header has it; nothing is in the file.
void put_hollow(const std::filesystem::path& path, std::uint64_t rows, std::uint64_t columns) {
  std::string header = npy_header(rows, static_cast<Index>(columns));
  put(path, header);
  ASSERT_EQ(::truncate(path.c_str(), static_cast<off_t>(header.size() + rows * columns * 8)), 0);
}

TEST(Orientation, TooManyChannelsAreRefusedAtOnce) {
  const auto path = test_file("x.npy");
  put_hollow(path, 32, 30504);
  EXPECT_EQ(open_signals(path)->info().channels, 32);
  EXPECT_COMPLAINT(complaint(path, with(Orientation::frames)),
                   "x.npy: 30504 channels are too many; at most 8192");
  put_hollow(path, 30000, 30000);
  EXPECT_COMPLAINT(complaint(path), "x.npy: 30000 channels are too many");
  std::string line = "1";
  for (int k = 1; k < 9000; ++k) line += ",1";
  put(test_file("x.csv"), line + "\n");
  EXPECT_COMPLAINT(complaint(test_file("x.csv"), with(Orientation::frames)),
                   "x.csv: 9000 channels are too many");
  put(test_file("x.f32"), std::string(36000, '\0'));
  EXPECT_COMPLAINT(complaint(test_file("x.f32"), with(Orientation::automatic, 9000)),
                   "9000 channels are too many");
  std::string lines;
  for (int k = 0; k < 9000; ++k) lines += "1,2\n";
  put(test_file("y.csv"), lines);
  EXPECT_EQ(complaint(test_file("y.csv")), "");
  EXPECT_COMPLAINT(complaint(test_file("y.csv"), with(Orientation::channels)), "9000 channels are too many");
}

// An array far larger than memory is opened and looked into.
TEST(Orientation, AnyFrameOfAHugeArrayIsAtHand) {
  const auto path = test_file("x.npy");
  put_hollow(path, 64, std::uint64_t{1} << 31);  // 1 TiB of zeros that take no disk space
  const auto reader = open_signals(path);
  EXPECT_EQ(reader->info().frames, Index{1} << 31);
  Matrix<double> out = Matrix<double>::Ones(64, 100);
  reader->read_at((Index{1} << 31) - 100, out);
  EXPECT_EQ(out, Matrix<double>::Zero(64, 100));
}

}  // namespace
}  // namespace demix::io
