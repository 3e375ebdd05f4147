#pragma once

#include <string>
#include <vector>

#include "demix/compare.hpp"
#include "demix/report.hpp"

/// Comparisons and grid searches as pictures.
namespace demix {

/// What is infinite (half of the runs diverged) as NaN, which a picture leaves out.
std::vector<double> finite_or_gap(std::vector<double> values);

/// A number for people: 1.2e-04, or "-" if it is infinite.
std::string scientific(double value);

/// Median and quartiles of each contender; its legend says how many runs separated and diverged.
report::ConvergenceFigure::Panel convergence_panel(const std::string& title, const Comparison& comparison,
                                                   const std::vector<Contender>& contenders,
                                                   std::vector<double> Run::*measure = &Run::mse);

/// Cells as tune() gives them: the median error, and how many of the runs separated. The best cell is framed
/// if any run does.
report::HeatMap heat_map(const std::string& title, const std::vector<Cell>& cells);

}  // namespace demix
