#include "report/figure_support.hpp"

namespace demix::report {
namespace {

class Network : public testing::DrawTest<NetworkFigure> {
 protected:
  Network() {
    figure.title = "all";
    figure.W.resize(2, 3);
    figure.W << 1, -0.5, 0.25, 2, 0, 1;
    figure.M.resize(2, 2);
    figure.M << 1, 0.4, 0.4, 3;
    figure.inputs = {"x1", "x2", "x3"};
    figure.outputs = {"y1", "y2"};
  }
};

TEST_F(Network, WritesPngAndSvg) { expect_pictures(draw(figure, base())); }

TEST_F(Network, FitsAColumn) { expect_to_fit_a_column(); }

TEST_F(Network, SaysWhatIsWhatOnce) {
  const auto seen = texts();
  for (const char* text :
       {"all", "x1", "x2", "x3", "c1", "c2", "y1", "y2", "Σ y²", "input", "dendrite", "soma",
        "excites: W > 0, M < 0", "inhibits: W < 0, M > 0", "modulates the plasticity of W", "largest |W| 2",
        "largest |M|, i ≠ j 0.4", "leak 1", "leak 3"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST_F(Network, IsTheSameEveryTime) { EXPECT_EQ(svg(), svg()); }

TEST_F(Network, WeightsAreColouredBySign) {
  figure.M.setIdentity();
  EXPECT_EQ(count("stroke='" + blue), 5U);  // 1, 0.25, 2, 1, and in the legend
  EXPECT_EQ(count("stroke='" + red), 2U);
  figure.W = -figure.W;
  EXPECT_EQ(count("stroke='" + blue), 2U);
  EXPECT_EQ(count("stroke='" + red), 5U);
}

// Every synapse has a round end: five of W (one of them inhibits), and those of M.
TEST_F(Network, PositiveLateralWeightsInhibit) {
  const std::string inhibits = "<polygon fill = '" + red;
  const std::string excites = "<polygon fill = '" + blue;
  EXPECT_EQ(count(inhibits), 1U + 2U);
  EXPECT_EQ(count(excites), 4U);
  figure.M(0, 1) = 0;  // only into the second
  EXPECT_EQ(count(inhibits), 1U + 1U);
  figure.M(1, 0) = -0.4;
  EXPECT_EQ(count(inhibits), 1U);
  EXPECT_EQ(count(excites), 4U + 1U);
  figure.M.setIdentity();  // nothing among them
  EXPECT_EQ(count(inhibits), 1U);
  EXPECT_EQ(texts().count("largest |M|, i ≠ j 0.4"), 0U);
}

TEST_F(Network, PointNeuronsHaveNoDendritesAndNoModulation) {
  figure.point_neurons = true;
  const auto seen = texts();
  for (const char* text : {"c1", "Σ y²", "dendrite", "soma", "modulates the plasticity of W"}) {
    EXPECT_EQ(seen.count(text), 0U) << text;
  }
  EXPECT_EQ(seen.count("output"), 1U);
}

TEST_F(Network, TheGenerativeHalfIsDrawnIfThereIsOne) {
  EXPECT_EQ(texts().count("source"), 0U);
  figure.A.resize(3, 2);
  figure.A << 1, 0.5, -2, 1, 0.3, 0.1;
  figure.sources = {"s1", "s2"};
  const auto seen = texts();
  for (const char* text : {"source", "s1", "s2", "largest |A| 2; A < 0 dashed"}) {
    EXPECT_EQ(seen.count(text), 1U) << text;
  }
}

TEST_F(Network, DrawsOneNodeAndNoWeights) {
  figure.W.setZero(1, 1);
  figure.M.setZero(1, 1);
  figure.inputs = {"in"};
  figure.outputs = {"out"};
  EXPECT_TRUE(texts().contains("out"));
}

TEST_F(Network, ShowsTextsAsTheyAre) {
  const std::string word = "a_{c}%d\"\\n`h`$i<&#";
  figure.title = figure.inputs[1] = figure.outputs[1] = word;
  EXPECT_EQ(texts().count(word), 3U);
}

TEST_F(Network, RefusesWhatDoesNotFit) {
  refused([](Figure& f) { f.W.resize(0, 0); }, "W");
  refused([](Figure& f) { f.W(0, 1) = nan; }, "W");
  refused([](Figure& f) { f.M.setIdentity(3, 3); }, "M");
  refused([](Figure& f) { f.M(1, 1) = nan; }, "M");
  refused([](Figure& f) { f.inputs.pop_back(); }, "inputs");
  refused([](Figure& f) { f.outputs.clear(); }, "outputs");
  refused([](Figure& f) { f.A.setIdentity(2, 2); }, "A");
  refused([](Figure& f) { f.sources = {"s1"}; }, "sources");
}

TEST_F(Network, LeavesNothingBehindWithoutAFolder) { expect_nothing_left_without_a_folder(); }

}  // namespace
}  // namespace demix::report
