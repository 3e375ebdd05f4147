#pragma once

#include <algorithm>
#include <chrono>

#include "demix/types.hpp"

namespace demix::cli {

/// Frames as they would come from the instrument.
class Pace {
 public:
  static constexpr double moment = 0.005;  // seconds to wait if none is due
  explicit Pace(double rate) : rate_(rate) {}
  Index due(std::int64_t done) const {
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start_;
    return std::max<Index>(0, static_cast<Index>(seconds.count() * rate_) - done);
  }

 private:
  double rate_;
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace demix::cli
