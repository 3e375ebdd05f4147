#pragma once

#include <cmath>
#include <limits>

#include "demix/types.hpp"

namespace demix {

/// NaN: not known, as nothing varies.
struct OutputKurtosis {
  double value;
  double error;  // standard, if the frames are independent
};

/// y: a sample of an output that was learned from so many frames.
inline OutputKurtosis kurtosis_of(const Eigen::ArrayXd& y, double learned) {
  const double power = y.square().mean();
  constexpr double unknown = std::numeric_limits<double>::quiet_NaN();
  if (y.size() < 2 || !(power > 0 && power < std::numeric_limits<double>::infinity()))
    return {unknown, unknown};
  const Eigen::ArrayXd v = y.square() / power;
  const double k = v.square().mean();
  const Eigen::ArrayXd influence = v.square() - 2 * k * v + k;  // of one frame on E[y^4]/E[y^2]^2
  return {k, std::sqrt(influence.square().mean() / learned)};
}

}  // namespace demix
