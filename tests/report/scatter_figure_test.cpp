#include "report/figure_support.hpp"

namespace demix::report {
namespace {

class Scatter : public testing::DrawTest<ScatterFigure> {
 protected:
  Scatter() {
    figure.title = "all";
    const Matrix<double> points = Matrix<double>::Random(2, 500);
    figure.panels = {
        {"left", "x1", "x2", points, {{1, 0.1, "s1"}, {0, 1, "s2"}}, {}},
        {"right", "h1", "h2", 3 * points, {{1, 0, "s1"}}, {{0.5, 0.5, "first"}, {-0.5, 0.5, "second"}}}};
  }
};

TEST_F(Scatter, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Scatter, FitsAColumn) { expect_to_fit_a_column(); }

TEST_F(Scatter, SaysWhatIsWhatOnce) {
  const auto seen = texts();
  for (const char* text : {"all", "left", "right", "x1", "x2", "h1", "h2", "s1", "s2", "first", "second"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST_F(Scatter, IsTheSameEveryTime) { EXPECT_EQ(svg(), svg()); }

TEST_F(Scatter, ASourceHasTheSameColourInAllPanels) {
  figure.panels[0].sources = {{1, 0.1, "s1"}};
  EXPECT_EQ(svg().find(blue), std::string::npos);
  figure.panels[1].sources[0].label = "s2";
  EXPECT_NE(svg().find(blue), std::string::npos);
  EXPECT_NE(svg().find(red), std::string::npos);
}

TEST_F(Scatter, HasEqualScales) {
  figure.panels.pop_back();
  figure.panels[0].points.row(1) *= 0.01;
  const auto seen = texts();
  for (const char* number : {"-1.0", "-0.5", "0", "0.5", "1.0"}) EXPECT_EQ(seen.count(number), 2U) << number;
}

TEST_F(Scatter, DrawsSomeOfManyPoints) {
  figure.panels[0].points = Matrix<double>::Random(2, 100000);
  EXPECT_LT(svg().size(), 300000U);
}

TEST_F(Scatter, DrawsArrowsAloneAndNothing) {
  figure.panels[0].points.resize(0, 0);
  figure.panels[1] = {"none", "", "", Matrix<double>(2, 0), {{0, 0, ""}}, {}};
  const auto seen = texts();
  EXPECT_TRUE(seen.contains("s1"));
  EXPECT_TRUE(seen.contains("none"));
}

TEST_F(Scatter, ShowsTextsAsTheyAre) {
  const std::string& odd = testing::special;
  figure.panels[0].sources[0].label = figure.panels[1].directions[1].label = odd;
  EXPECT_EQ(texts().count(odd), 2U);
}

TEST_F(Scatter, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.panels.clear(); }, "panels");
  refused([](Figure& f) { f.panels.resize(7, f.panels[0]); }, "panels");
  refused([](Figure& f) { f.panels[1].points.transposeInPlace(); }, "panels[1].points");
  refused([](Figure& f) { f.panels[0].points(1, 7) = nan; }, "panels[0].points");
  refused([](Figure& f) { f.panels[0].sources[1].x = nan; }, "panels[0].sources[1]");
  refused([](Figure& f) { f.panels[1].directions[0].y = nan; }, "panels[1].directions[0]");
}

TEST_F(Scatter, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
