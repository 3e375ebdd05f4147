#pragma once

namespace demix::report {

/// What an axis shows.
struct AxisRange {
  double lo = 0, hi = 0;
};

}  // namespace demix::report
