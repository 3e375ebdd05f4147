#pragma once

#include "demix/types.hpp"

/// Nonlinearities, in place of what they are of: n values, a multiple of 4, become g(y), and the sums of
/// g'(y), of G(y) with g = G', and of y^2 are returned.
namespace demix {

struct NonlinearitySums {
  double slope = 0, value = 0, square = 0;
};

NonlinearitySums logcosh_kernel(double* y, Index n, const double* w);  ///< g = tanh y
NonlinearitySums bell_kernel(double* y, Index n,
                             const double* w);  ///< g = y exp(-y^2 / 2), G = 1 - exp(-y^2 / 2)
NonlinearitySums cube_kernel(double* y, Index n, const double* w);    ///< g = y^3
NonlinearitySums square_kernel(double* y, Index n, const double* w);  ///< g = y^2

}  // namespace demix
