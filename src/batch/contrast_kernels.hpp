#pragma once

#include "core/scratch.hpp"
#include "demix/contrast.hpp"

namespace demix {

struct NonlinearitySums {
  Vector<double>& slope;   ///< sum w g'(y)
  Vector<double>& value;   ///< sum w G(y)
  Vector<double>& square;  ///< sum w y^2
};

/// G = w g(Y), g = G' the nonlinearity, of outputs Y of a block (core/blocks.hpp); the sums over the frames
/// are added to. G may be Y. Weights w of the frames: null for 1, as they must be for floats, whose sums are
/// to the precision of floats.
///   logcosh: g = tanh y    exp: g = y exp(-y^2 / 2), G = 1 - exp(-y^2 / 2)    cube: g = y^3    skew: g = y^2
template <typename T>
void add_nonlinearity(Contrast contrast, const LineMatrix<T>& Y, LineMatrix<T>& G, const double* weights,
                      NonlinearitySums sums);

}  // namespace demix
