#include "demix/experiment_figures.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace demix {
namespace {

constexpr double nan = std::numeric_limits<double>::quiet_NaN();

}  // namespace

std::vector<double> finite_or_gap(std::vector<double> values) {
  for (double& v : values) v = std::isfinite(v) ? v : nan;
  return values;
}

std::string scientific(double value) { return std::isfinite(value) ? fmt::format("{:.1e}", value) : "-"; }

report::ConvergenceFigure::Panel convergence_panel(const std::string& title, const Comparison& comparison,
                                                   const std::vector<Contender>& contenders,
                                                   std::vector<double> Run::*measure) {
  report::ConvergenceFigure::Panel panel{title, {comparison.frames.begin(), comparison.frames.end()}, {}};
  for (std::size_t c = 0; c < contenders.size(); ++c) {
    const Summary s = summarise(comparison, static_cast<Index>(c), measure);
    panel.curves.push_back({contenders[c].label, finite_or_gap(s.median), finite_or_gap(s.low),
                            finite_or_gap(s.high), s.separated, s.diverged, s.runs});
  }
  return panel;
}

report::HeatMap heat_map(const std::string& title, const std::vector<Cell>& cells) {
  constexpr double least = 1e-12;  // there is no colour for 0
  constexpr Index most_told = 5;   // columns, with the error in their cells
  if (cells.empty()) throw std::invalid_argument("cells: expected at least one, got none");
  report::HeatMap map;
  map.title = title;
  map.x_label = "η";
  map.y_label = cells[0].tau > 0 ? "τ" : "";
  map.value_label = "median MSE";
  const Index columns = std::max<Index>(1, std::ranges::count(cells, cells[0].tau, &Cell::tau));
  map.values.resize(static_cast<Index>(cells.size()) / columns, columns);
  const Cell& winner = best(cells);
  for (std::size_t k = 0; k < cells.size(); ++k) {
    const Cell& cell = cells[k];
    const Index row = static_cast<Index>(k) / columns;
    const Index column = static_cast<Index>(k) % columns;
    if (row == 0) map.x.push_back(fmt::format("{:g}", cell.eta));
    if (column == 0) map.y.push_back(cell.tau > 0 ? fmt::format("{:g}", cell.tau) : "");
    map.values(row, column) = std::isfinite(cell.mse) ? std::max(cell.mse, least) : nan;
    const std::string separated =
        fmt::format("{}/{}", cell.separated, cell.runs);  // in narrow cells this alone
    map.texts.push_back(columns > most_told ? separated : scientific(cell.mse) + "\n" + separated);
    if (&cell == &winner && cell.separated > 0) {
      map.best_row = row;
      map.best_column = column;
    }
  }
  return map;
}

}  // namespace demix
