#pragma once

#include <cstdint>
#include <vector>

#include "demix/types.hpp"

/// The weight w(||y||) that resists outliers: 1 for a frame whose activity a = ||y||^2 is at most 20 times
/// what nine frames in ten stay below, 0 beyond. The 0.9-quantile is followed one frame at a time,
///
///   log q <- log q + .01 ([a > q] - .1)
///
/// It begins with frames nobody has whitened yet, so the first ones are whitened by themselves, robustly.
namespace demix {

class OutlierGate {
 public:
  static constexpr double factor = 20;

  /// Which of the first frames (channels x frames) to learn from; empty if they are silent. Allocates.
  std::vector<bool> open(const Matrix<double>& first);

  bool passes(double activity);

  template <typename Archive>
  void fields(Archive& a) {
    a(log_quantile_);
  }

 private:
  double log_quantile_ = 0;
};

}  // namespace demix
