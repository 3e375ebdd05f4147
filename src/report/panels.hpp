#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "report/gnuplot.hpp"

/// Axes side by side with all that is written around them, and one legend below.
namespace demix::report {

/// A thin dashed line across the axes; its name stands beside them, where nothing is drawn.
struct Line {
  double at;
  std::string name;
  bool vertical = false;
};

struct Axes {
  std::string title, x_label, y_label;
  AxisRange x, y;
  bool log_x = false, log_y = false;
  std::vector<Line> lines;
  std::string script;  ///< that draws what is inside
};

struct Panels {
  std::string title;
  std::vector<Axes> axes;
  std::vector<gnuplot::Entry> legend;
  bool square = false;  ///< the axes are; else they are wider than high
};

std::vector<std::filesystem::path> draw(const Panels& panels, const std::filesystem::path& base);

}  // namespace demix::report
