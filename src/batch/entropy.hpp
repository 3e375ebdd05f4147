#pragma once

#include "demix/types.hpp"

namespace demix {

/// The entropies of outputs in each of so many stretches of the frames, in nats per frame:
///   H_si = - mean_t log p_i(y_it),  t in stretch s
/// p_i is the density of output i over all frames, a histogram of u = y / (1 + |y|), so that tails have room,
/// blurred by a hundredth of the range of u, so that values that tie do no harm.
Matrix<double> entropies(const Matrix<float>& Y, Index stretches);

}  // namespace demix
