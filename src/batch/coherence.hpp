#pragma once

#include "demix/types.hpp"

namespace demix {

/// Magnitude-squared coherence of each pair of rows of Y over segments of N frames that lie side by side
/// (Welch's method, Hann window):
///   C_ij = sum_f a_ij(f) |S_ij(f)|^2 / (S_ii(f) S_jj(f)),   a_ij ~ sqrt(S_ii S_jj), sum_f a_ij(f) = 1
/// less what independent white rows would show, 1 over the number of segments.
struct Coherence {
  Matrix<double> pairs;
  /// The largest of any pair if one row is shifted by many segments against the other: what rows like these
  /// show by chance. Where neighbouring segments are alike, or the power is in few frequencies, that is much.
  double by_chance = 0;
};

/// `overlap`: whether segments were cut so that each shares up to half of its frames with the next.
/// `suspicious`: chance is only looked at if a pair is above this.
Coherence mean_coherence(const Matrix<float>& Y, Index N, bool overlap, double suspicious);

}  // namespace demix
