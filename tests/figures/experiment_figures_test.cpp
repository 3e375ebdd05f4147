#include "demix/experiment_figures.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

namespace demix {
namespace {

constexpr double infinite = std::numeric_limits<double>::infinity();

TEST(ExperimentFigures, AComparisonIsAPanelWithGapsWhereRunsDiverged) {
  const std::vector<Contender> contenders{contender_named("easi"), contender_named("amari")};
  Comparison comparison;
  comparison.frames = {10, 100};
  comparison.runs = {{0, 0, {0.5, 0.01}, {0.6, 0.02}, 0}, {1, 0, {0.5, NAN}, {0.6, NAN}, 50}};
  const auto panel = convergence_panel("one", comparison, contenders);
  EXPECT_EQ(panel.title, "one");
  EXPECT_EQ(panel.frames, (std::vector<double>{10, 100}));
  ASSERT_EQ(panel.curves.size(), 2U);
  EXPECT_EQ(panel.curves[0].label, "easi");
  EXPECT_EQ(panel.curves[0].median, (std::vector<double>{0.5, 0.01}));
  EXPECT_EQ(panel.curves[0].separated, 1);
  EXPECT_EQ(panel.curves[0].diverged, 0);
  EXPECT_EQ(panel.curves[1].separated, 0);
  EXPECT_EQ(panel.curves[1].diverged, 1);
  EXPECT_EQ(panel.curves[1].runs, 1);
  EXPECT_EQ(panel.curves[1].median[0], 0.5);
  EXPECT_TRUE(std::isnan(panel.curves[1].median[1]));
  EXPECT_EQ(convergence_panel("", comparison, contenders, &Run::running).curves[0].median[1], 0.02);
}

TEST(ExperimentFigures, AGridIsAMapWithItsBestFramed) {
  std::vector<Cell> cells{{1e-3, 0.5, 3, 1, 0, 0.04}, {1e-2, 0.5, 3, 0, 3, infinite}, {0.1, 0.5, 3, 0, 0, 1},
                          {1e-3, 1, 3, 0, 0, 0.5},    {1e-2, 1, 3, 3, 0, 0},          {0.1, 1, 3, 0, 0, 1}};
  const report::HeatMap map = heat_map("grid", cells);
  EXPECT_EQ(map.x, (std::vector<std::string>{"0.001", "0.01", "0.1"}));
  EXPECT_EQ(map.y, (std::vector<std::string>{"0.5", "1"}));
  EXPECT_EQ(map.values(0, 0), 0.04);
  EXPECT_TRUE(std::isnan(map.values(0, 1)));
  EXPECT_GT(map.values(1, 1), 0);  // which can be drawn
  EXPECT_EQ(map.texts[0], "4.0e-02\n1/3");
  EXPECT_EQ(map.texts[1], "-\n0/3");
  EXPECT_EQ(map.best_row, 1);
  EXPECT_EQ(map.best_column, 1);
  for (Cell& cell : cells) cell.separated = 0;
  EXPECT_EQ(heat_map("", cells).best_row, -1);
  EXPECT_THROW(heat_map("", {}), std::invalid_argument);
}

TEST(ExperimentFigures, AMethodWithoutTauIsOneRow) {
  const report::HeatMap map = heat_map("", {{1e-3, 0, 1, 0, 0, 1}, {1e-2, 0, 1, 1, 0, 0.01}});
  EXPECT_EQ(map.values.rows(), 1);
  EXPECT_EQ(map.y, std::vector<std::string>{""});
  EXPECT_EQ(map.y_label, "");
}

}  // namespace
}  // namespace demix
