#pragma once

#include "demix/types.hpp"

/// Nonlinearities, in place of what they are of: n values y, a multiple of 8, become w g(y), and the sums of
/// w g'(y), of w G(y) with g = G', and of w y^2 are returned. w: weights, or null for 1.
namespace demix {

struct NonlinearitySums {
  double slope = 0, value = 0, square = 0;
};

NonlinearitySums logcosh_kernel(double* y, Index n, const double* w);  ///< g = tanh y
NonlinearitySums bell_kernel(double* y, Index n,
                             const double* w);  ///< g = y exp(-y^2 / 2), G = 1 - exp(-y^2 / 2)
NonlinearitySums cube_kernel(double* y, Index n, const double* w);    ///< g = y^3
NonlinearitySums square_kernel(double* y, Index n, const double* w);  ///< g = y^2

/// The same to the precision of a float, all of weight 1.
NonlinearitySums logcosh_kernel(float* y, Index n);
NonlinearitySums bell_kernel(float* y, Index n);
NonlinearitySums cube_kernel(float* y, Index n);
NonlinearitySums square_kernel(float* y, Index n);

}  // namespace demix
