#include "demix/report.hpp"

#include "report/figure_support.hpp"
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

class Separation : public testing::DrawTest<SeparationFigure> {
 protected:
  Separation() {
    figure.title = "test";
    figure.S = Matrix<double>::Random(2, 500);
    figure.X = figure.S;
    figure.Y = figure.S;
    figure.names = {"one", "two"};
  }
};

TEST_F(Separation, WritesPngAndSvg) {
  const auto files = draw(figure, base());
  expect_pictures(files);
  for (const auto& file : files) EXPECT_GT(std::filesystem::file_size(file), 5000U);
}

TEST_F(Separation, ShowsTextsAsTheyAre) {
  figure.title = testing::special;
  figure.names[1] = "a_b";
  const auto seen = texts();
  EXPECT_TRUE(seen.contains(testing::special));
  EXPECT_TRUE(seen.contains("a_b"));
}

TEST_F(Separation, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.names.pop_back(); }, "names");
  refused([](Figure& f) { f.Y.conservativeResize(2, 499); }, "Y");
  refused([](Figure& f) { f.X.resize(0, 0); }, "X");
  refused([](Figure& f) { f.stride = 0; }, "stride");
}

}  // namespace
}  // namespace demix::report
