#pragma once

#include <algorithm>
#include <cmath>

#include "demix/types.hpp"

/// One Newton step towards what symmetric FastICA with tanh comes to. Of outputs u, t = tanh u, s = 1 - t^2,
/// with S = E[u u^T], T = E[t u^T], D = E[s (u^2)^T] and signs k_i = sign(E[s_i] S_ii - T_ii), it looks for
///
///   S = I,   k_i T_ij = k_j T_ji
///
/// When u moves to (I + E) u, to first order and for nearly independent outputs,
///
///   S_ij <- S_ij + E_ij + E_ji,   T_ij <- T_ij + T_ii E_ji + D_ij E_ij
///
/// which makes two equations in E_ij and E_ji for every pair.
namespace demix {

struct NewtonStep {
  Matrix<double> E;
  Vector<double> k;

  explicit NewtonStep(Index n) : E(Matrix<double>::Zero(n, n)), k(Vector<double>::Zero(n)) {}

  /// k of the first n outputs, from expectations.
  void signs(const Matrix<double>& S, const Matrix<double>& T, const Vector<double>& s, Index n) {
    for (Index i = 0; i < n; ++i) k(i) = s(i) * S(i, i) - T(i, i) < 0 ? -1 : 1;
  }

  /// How fast the equation of a pair turns with it: above 0 where the contrast has its maximum.
  double curvature(const Matrix<double>& T, const Matrix<double>& D, Index i, Index j) const {
    return k(i) * (D(i, j) - T(i, i)) + k(j) * (D(j, i) - T(j, j));
  }

  /// What the turn of a pair has to make up for: k_i T_ij - k_j T_ji, and what E_ij + E_ji = apart adds to
  /// it.
  double rest(const Matrix<double>& T, const Matrix<double>& D, Index i, Index j, double gradient,
              double apart) const {
    return gradient + (k(i) * (T(i, i) + D(i, j)) - k(j) * (T(j, j) + D(j, i))) * apart / 2;
  }

  /// From expectations, by the signs k.
  void solve(const Matrix<double>& S, const Matrix<double>& T, const Matrix<double>& D, Index n) {
    constexpr double least = 0.01;    // curvature: below, a pair is too Gaussian to be turned by it
    constexpr double farthest = 0.3;  // radian
    for (Index j = 0; j < n; ++j) {
      E(j, j) = (1 - S(j, j)) / 2;
      for (Index i = 0; i < j; ++i) {
        const double apart = -S(i, j);  // E_ij + E_ji
        const double c = curvature(T, D, i, j);
        const double gradient = k(i) * T(i, j) - k(j) * T(j, i);
        // k_i (T_ij + T_ii E_ji + D_ij E_ij) = k_j (T_ji + T_jj E_ij + D_ji E_ji),  E = apart / 2 +- turn
        const double turn = std::clamp(
            -rest(T, D, i, j, gradient, apart) * std::abs(c) / (c * c + least * least), -farthest, farthest);
        E(i, j) = apart / 2 + turn;
        E(j, i) = apart / 2 - turn;
      }
    }
  }
};

}  // namespace demix
