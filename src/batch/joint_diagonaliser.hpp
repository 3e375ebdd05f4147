#pragma once

#include "demix/types.hpp"

/// The rotation that makes a set of symmetric matrices as diagonal as they get together,
///   V = argmin sum_m ||off(V^T A_m V)||^2,
/// by turning one pair (p, q) after the other (Cardoso, Souloumiac 1996), each by the angle that is best for
/// it: with g_m = [A_pp - A_qq; 2 A_pq] of matrix m and G = sum_m g_m g_m^T,
///   4 theta = atan2(2 G_12, G_11 - G_22)
namespace demix {

/// Where the pair p <= q comes in the order (0, 0), (0, 1), (1, 1), (0, 2), ...
constexpr Index pair_index(Index p, Index q) { return q * (q + 1) / 2 + p; }

struct JointDiagonalisation {
  Matrix<double> V;  ///< d x d
  Index sweeps = 0;
  Index turning = 0;  ///< pairs that were turned in the last sweep; 0 = converged
};

/// A: a row per matrix and a column per entry, at pair_index(p, q), so that a rotation goes over whole
/// columns. A pair whose angle is at most `tolerance` (rad) is left as it is.
JointDiagonalisation joint_diagonalise(Matrix<double> A, Index max_sweeps, double tolerance);

}  // namespace demix
