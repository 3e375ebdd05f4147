#include "report/figure_support.hpp"

namespace demix::report {
namespace {

ConvergenceFigure::Curve error_curve(const std::string& label, double from = 0.5) {
  return {label,
          {from, from / 10, from / 100},
          {from / 2, from / 20, from / 200},
          {from, from / 5, from / 50},
          3,
          0,
          50};
}

class Convergence : public testing::DrawTest<ConvergenceFigure> {
 protected:
  Convergence() {
    figure.title = "all";
    figure.panels = {{"left", {10, 100, 1000}, {error_curve("easi"), error_curve("fobi")}},
                     {"right", {10, 100, 1000}, {error_curve("easi")}}};
    figure.panels[1].curves[0].diverged = 7;
  }
};

TEST_F(Convergence, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Convergence, FitsAColumn) {
  figure.panels.resize(1);
  expect_to_fit_a_column();
  figure.panels.resize(2, figure.panels[0]);  // side by side
  EXPECT_DOUBLE_EQ(testing::in_print(svg()).width, 170);
}

TEST_F(Convergence, SaysWhatIsWhatAndTellsDivergedFromNotSeparated) {
  const auto seen = texts();
  for (const char* text : {"all", "left", "right", "easi  3/50", "fobi  3/50", "easi  3/50, 7 diverged"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
  for (const char* text : {"frames", "MSE", "separated (n of all) below 0.05"})
    EXPECT_EQ(seen.count(text), 2U) << text;
}

TEST_F(Convergence, CountsNothingWithoutRuns) {
  figure.panels[0].curves[1].separated = figure.panels[0].curves[1].runs = 0;
  EXPECT_TRUE(texts().contains("fobi"));
}

TEST_F(Convergence, ALabelHasTheSameColourInAllPanels) {
  figure.panels[0].curves = {error_curve("easi")};
  const std::string same = svg();
  EXPECT_NE(same.find(blue), std::string::npos);
  EXPECT_EQ(same.find(red), std::string::npos);
  figure.panels[1].curves[0].label = "fobi";
  const std::string other = svg();
  EXPECT_NE(other.find(blue), std::string::npos);
  EXPECT_NE(other.find(red), std::string::npos);
}

TEST_F(Convergence, PanelsShareTheRangeOfErrors) {
  figure.panels[1].curves = {error_curve("easi", 3e-3)};  // down to 1.5e-5
  const auto seen = texts();
  EXPECT_EQ(seen.count("10-5"), 2U);
  EXPECT_EQ(seen.count("100"), 2U);
  EXPECT_EQ(seen.count("10-6"), 0U);
}

TEST_F(Convergence, DrawsAtTheEdgeWhatIsFarOut) {
  figure.panels[0].curves = {{"far", {0, 1e-20, 1e30}, {-1, nan, inf}, {inf, nan, inf}}};
  const auto seen = texts();
  EXPECT_EQ(seen.count("10-8"), 2U);
  for (int k = 9; k < 21; ++k) EXPECT_EQ(seen.count("10-" + std::to_string(k)), 0U) << k;
  for (int k = 3; k < 31; ++k)
    EXPECT_EQ(seen.count("10" + std::to_string(k)), k == 3 ? 2U : 0U) << k;  // frames
  EXPECT_TRUE(seen.contains("far"));
}

TEST_F(Convergence, KeepsInTheLegendWhatHasNoValues) {
  figure.panels[0].curves[0] = {"gone", {nan, nan, nan}, {nan, nan, nan}, {nan, nan, nan}, 0, 50, 50};
  EXPECT_EQ(texts().count("gone  0/50, 50 diverged"), 1U);
}

TEST_F(Convergence, DrawsOneFrameAndFourteenCurves) {
  figure.panels = {{"one", {5000}, {}}};
  for (int k = 0; k < 14; ++k)
    figure.panels[0].curves.push_back({std::to_string(k), {0.1}, {0.05}, {0.2}, 0, 0, 1});
  EXPECT_TRUE(texts().contains("13  0/1"));
}

TEST_F(Convergence, ShowsTextsAsTheyAre) {
  const std::string& odd = testing::special;
  figure.title = figure.panels[0].title = odd;
  figure.panels[0].curves[1].label = odd;
  const auto seen = texts();
  EXPECT_EQ(seen.count(odd), 2U);
  EXPECT_EQ(seen.count(odd + "  3/50"), 1U);
}

TEST_F(Convergence, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.panels.clear(); }, "panels");
  refused([](Figure& f) { f.panels.resize(7, f.panels[0]); }, "panels");
  refused([](Figure& f) { f.threshold = 0; }, "threshold");
  refused([](Figure& f) { f.panels[1].frames.clear(); }, "panels[1].frames");
  refused([](Figure& f) { f.panels[0].frames = {10, 10, 20}; }, "panels[0].frames[1]");
  refused([](Figure& f) { f.panels[0].frames[0] = 0; }, "panels[0].frames[0]");
  refused([](Figure& f) { f.panels[0].curves[1].median.pop_back(); }, "panels[0].curves[1].median");
  refused([](Figure& f) { f.panels[0].curves[0].low.push_back(1); }, "panels[0].curves[0].low");
  refused([](Figure& f) { f.panels[1].curves[0].high.clear(); }, "panels[1].curves[0].high");
  refused([](Figure& f) { f.panels[0].curves[0].separated = 51; }, "panels[0].curves[0].separated");
  refused([](Figure& f) { f.panels[0].curves[0].diverged = 48; }, "panels[0].curves[0].diverged");
  refused([](Figure& f) { f.panels[0].curves[1].label = "easi"; }, "panels[0].curves[1].label");
  refused(
      [](Figure& f) {
        for (int k = 0; k < 13; ++k) f.panels[0].curves.push_back(error_curve(std::to_string(k)));
      },
      "panels");
}

TEST_F(Convergence, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
