#pragma once

#include "demix/types.hpp"

namespace demix {

template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

/// The sum over the outputs of their entropies, in nats per frame, in each of so many stretches of the
/// frames:
///   - sum_i mean_t log p_i(y_it)
/// p_i is the density of output i over all frames, a histogram of u = y / (1 + |y|), so that tails have room,
/// blurred by a hundredth of the range of u, so that values that tie do no harm.
Vector<double> entropies(const RowMatrix<float>& Y, Index stretches);

}  // namespace demix
