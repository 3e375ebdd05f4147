#pragma once

#include "demix/types.hpp"

namespace demix {

/// Magnitude-squared coherence of each pair of rows of Y over segments of N frames that lie side by side
/// (Welch's method, Hann window):
///   C_ij = sum_f a_ij(f) |S_ij(f)|^2 / (S_ii(f) S_jj(f)),   a_ij ~ sqrt(S_ii S_jj), sum_f a_ij(f) = 1
/// less what independent rows would show by chance, 1 over the number of segments. `overlap`: whether they
/// were cut so that each shares up to half of its frames with the next.
Matrix<double> mean_coherence(const Matrix<float>& Y, Index N, bool overlap);

}  // namespace demix
