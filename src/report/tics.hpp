#pragma once

#include <string>

#include "report/gnuplot.hpp"

/// Numbers beside an axis.
namespace demix::report {

struct Tics {
  std::string text;     ///< for gnuplot: 'number' where, ...
  std::string between;  ///< those without numbers, to be added
  double width = 0;     ///< of the longest number, in pixels
};

/// Where they stand.
struct Axis {
  AxisRange range;
  bool log = false;
  double length = 0;    ///< in pixels
  bool across = false;  ///< numbers stand beside each other, not above
};

/// Round numbers, as many as are easily read in a font of so many points. On a log axis with two powers of
/// ten or more only these.
Tics tics_of(const Axis& axis, double points);

}  // namespace demix::report
