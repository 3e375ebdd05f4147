#include <algorithm>

#include "report/figure_support.hpp"

namespace demix::report {
namespace {

CurvesFigure::Curve curve(const std::string& label) {
  return {label, {1, 10, 100}, {0.5, 0.1, 0.01}, {0.2, 0.05, 0.005}, {0.6, 0.2, 0.03}};
}

class Curves : public testing::DrawTest<CurvesFigure> {
 protected:
  Curves() {
    figure.title = "all";
    figure.panels = {
        {"left", "frames", "error", true, true, {curve("ours"), curve("theirs")}, {{0.05, "enough"}}},
        {"right", "seconds", "loss", false, false, {curve("ours")}, {{40, "start", true}}}};
  }
};

TEST_F(Curves, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Curves, FitsAColumn) { expect_to_fit_a_column(); }

TEST_F(Curves, SaysWhatIsWhatOnce) {
  const auto seen = texts();
  for (const char* text : {"all", "left", "right", "frames", "seconds", "error", "loss", "ours", "theirs",
                           "enough", "start", "10-2", "102"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST_F(Curves, AreToldApartInGrey) {
  figure.panels = {{"", "x", "y", false, false, {}, {}}};
  for (int k = 0; k < 7; ++k) figure.panels[0].curves.push_back(curve(std::to_string(k)));
  const std::string drawn = svg();
  std::set<std::string> dashes;
  for (std::size_t at = 0; (at = drawn.find("dasharray='", at)) != std::string::npos; ++at) {
    dashes.insert(drawn.substr(at, drawn.find('\'', at + 11) - at));
  }
  EXPECT_EQ(dashes.size(), 6U);  // and a line without
}

TEST_F(Curves, AreTheSameEveryTime) { EXPECT_EQ(svg(), svg()); }

TEST_F(Curves, ALabelHasTheSameColourInAllPanels) {
  figure.panels[0].curves = {curve("ours")};
  EXPECT_EQ(count(red), 0U);
  figure.panels[1].curves[0].label = "theirs";
  EXPECT_GT(count(red), 0U);
  EXPECT_GT(count(blue), 0U);
}

TEST_F(Curves, CurvesOfOneLabelAreOneEntry) {
  figure.panels[0].curves = {curve("run"), curve("run"), curve("")};
  EXPECT_EQ(texts().count("run"), 1U);
  EXPECT_EQ(texts().count(""), 0U);
}

TEST_F(Curves, HaveBandsOnlyIfAsked) {
  EXPECT_GT(count("fill-opacity"), 0U);
  for (auto& p : figure.panels) {
    for (auto& c : p.curves) c.low.clear(), c.high.clear();
  }
  EXPECT_EQ(count("fill-opacity"), 0U);
}

TEST_F(Curves, DrawsDots) {
  const std::size_t before = count("<use");
  figure.panels[1].curves[0].dots = true;
  EXPECT_EQ(count("<use"), before + 4);  // three and one in the legend
}

TEST_F(Curves, LeavesGapsAndShowsASinglePoint) {
  const std::size_t before = count("<use");
  figure.panels[0].curves[0].y = {0.5, nan, 0.1};  // two of them
  EXPECT_EQ(count("<use"), before + 2);
  figure.panels[0].curves[0].y = {nan, inf, -1};  // none on a log axis
  EXPECT_EQ(count("<use"), before);
  figure.panels[0].curves = {{"zero", {0}, {0}, {}, {}}};
  EXPECT_EQ(texts().count("zero"), 1U);
}

TEST_F(Curves, DrawsABandThatReachesZeroOnALogAxis) {
  figure.panels[0].curves = {curve("ours")};
  figure.panels[0].curves[0].low = {0, -1, nan};
  const auto seen = texts();
  EXPECT_TRUE(seen.contains("10-4"));
  EXPECT_FALSE(seen.contains("10-5"));
}

TEST_F(Curves, DrawsNothingAndASingleValue) {
  figure.panels = {{"none", "", "", true, true, {}, {}},
                   {"one", "", "", false, false, {{"c", {3}, {3}, {}, {}}}, {}}};
  const auto seen = texts();
  EXPECT_TRUE(seen.contains("none"));
  EXPECT_TRUE(seen.contains("3.0"));
}

TEST_F(Curves, LeavesOutWhatIsBeyondAllNumbers) {
  auto& c = figure.panels[0].curves[0];
  c.y = {1e300, 1e-300, 0.5};
  c.high = {inf, 1e200, 1};
  figure.panels[1].curves[0].y = {-1e308, 1e308, 1e-310};
  EXPECT_FALSE(texts().empty());
}

TEST_F(Curves, DrawsSixPanelsWithFourteenLabels) {
  figure.panels.resize(6, figure.panels[0]);
  for (int k = 2; k < 14; ++k)
    figure.panels[5].curves.push_back(curve(std::to_string(k) + " with a long name"));
  EXPECT_TRUE(texts().contains("13 with a long name"));
}

TEST_F(Curves, BreaksLongTitlesAtSpaces) {
  figure.panels[0].title = "a title that is longer than the axes below are wide";
  const auto seen = texts();
  EXPECT_FALSE(seen.contains(figure.panels[0].title));
  EXPECT_TRUE(std::ranges::any_of(seen, [](const std::string& line) { return line.ends_with("wide"); }));
}

TEST_F(Curves, ShowsTextsAsTheyAre) {
  const std::string& odd = testing::special;
  figure.panels[0].curves[1].label = odd;
  const std::string word = "a_b{c}^d@e%d\"f\"\\n`h`$i<j>&k~#";
  auto& p = figure.panels[0];
  figure.title = p.title = p.x_label = p.y_label = p.marks[0].label = figure.panels[1].marks[0].label = word;
  const auto seen = texts();
  EXPECT_EQ(seen.count(odd), 1U);
  EXPECT_EQ(seen.count(word), 6U);
}

TEST_F(Curves, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.panels.clear(); }, "panels");
  refused([](Figure& f) { f.panels.resize(7, f.panels[0]); }, "panels");
  refused([](Figure& f) { f.panels[0].curves[1].x.clear(); }, "panels[0].curves[1].x");
  refused([](Figure& f) { f.panels[0].curves[1].y.pop_back(); }, "panels[0].curves[1].y");
  refused([](Figure& f) { f.panels[1].curves[0].low.clear(); }, "panels[1].curves[0].low");
  refused([](Figure& f) { f.panels[1].curves[0].high.push_back(1); }, "panels[1].curves[0].high");
  refused([](Figure& f) { f.panels[0].marks[0].at = 0; }, "panels[0].marks[0].at");
  refused([](Figure& f) { f.panels[1].marks[0].at = nan; }, "panels[1].marks[0].at");
  refused(
      [](Figure& f) {
        for (int k = 0; k < 13; ++k) f.panels[0].curves.push_back(curve(std::to_string(k)));
      },
      "panels");
}

TEST_F(Curves, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
