#include "demix/report.hpp"

#include <cmath>

#include <filesystem>
#include <fstream>

#include "support.hpp"

namespace demix::report {
namespace {

TEST(TextPlot, HasTheSizeAskedForAndShowsTheShape) {
  Vector<double> ramp = Vector<double>::LinSpaced(100, -1, 1);
  const auto lines = text_plot(ramp, 10, 2, -1, 1);
  ASSERT_EQ(lines.size(), 2U);
  for (const auto& line : lines) EXPECT_EQ(line.size(), 30U);  // three bytes each
  const std::string blank = "\xe2\xa0\x80";
  EXPECT_EQ(lines[0].substr(0, 3), blank);   // upper left is empty
  EXPECT_EQ(lines[1].substr(27, 3), blank);  // lower right too
  EXPECT_NE(lines[1].substr(0, 3), blank);
  EXPECT_NE(lines[0].substr(27, 3), blank);
  EXPECT_EQ(text_plot(Vector<double>::Zero(5), 4, 1, 0, 0).size(), 1U);  // no range, no crash
}

TEST(SeparationFigure, WritesPngAndSvg) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) GTEST_SKIP() << "no gnuplot";
  SeparationFigure f;
  f.title = "test";
  f.S = Matrix<double>::Random(2, 500);
  f.X = f.S;
  f.Y = f.S;
  f.names = {"one", "two"};
  const auto base = std::filesystem::temp_directory_path() / ("demix-figure-" + std::to_string(::getpid()));
  const auto files = draw(f, base);
  ASSERT_EQ(files.size(), 2U);
  for (const auto& file : files) {
    EXPECT_GT(std::filesystem::file_size(file), 5000U);
    std::filesystem::remove(file);
  }
}

}  // namespace
}  // namespace demix::report
