#pragma once

#include <algorithm>
#include <cmath>

#include "online/square_matrix.hpp"

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

/// Of outputs about their mean.
struct Expectations {
  Matrix<double> S, T, D;
  Vector<double> s;  // E[s]

  explicit Expectations(Index n) : S(padded_square(n)), T(S), D(S), s(Vector<double>::Zero(n)) {}

  /// Largest sum of a row of |S - I|.
  double off_white(Index n) const {
    double off = 0;
    for (Index j = 0; j < n; ++j) {
      off = std::max(off, S.col(j).head(n).cwiseAbs().sum() - std::abs(S(j, j)) + std::abs(S(j, j) - 1));
    }
    return off;
  }
};

struct NewtonStep {
  Matrix<double> E;
  Vector<double> k;

  explicit NewtonStep(Index n) : E(Matrix<double>::Zero(n, n)), k(Vector<double>::Zero(n)) {}

  /// k of the first n outputs.
  void signs(const Expectations& e, Index n) {
    for (Index i = 0; i < n; ++i) k(i) = e.s(i) * e.S(i, i) - e.T(i, i) < 0 ? -1 : 1;
  }

  static constexpr double least = 0.01;  // curvature: below, a pair is too Gaussian to be turned by it

  /// How fast the equation of a pair turns with it: above 0 where the contrast has its maximum.
  double curvature(const Expectations& e, Index i, Index j) const {
    return k(i) * (e.D(i, j) - e.T(i, i)) + k(j) * (e.D(j, i) - e.T(j, j));
  }

  /// Whether the contrast has no maximum here but a saddle, by more than `noise` of the curvature: a small
  /// step leads away from it, not to the end.
  bool at_saddle(const Expectations& e, Index n, double noise) const {
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < j; ++i) {
        if (curvature(e, i, j) < -noise) return true;
      }
    }
    return false;
  }

  /// What the turn of a pair has to make up for: k_i T_ij - k_j T_ji, and what E_ij + E_ji = apart adds to
  /// it.
  double rest(const Expectations& e, Index i, Index j, double gradient, double apart) const {
    return gradient + (k(i) * (e.T(i, i) + e.D(i, j)) - k(j) * (e.T(j, j) + e.D(j, i))) * apart / 2;
  }

  /// k and E of the first n outputs.
  void solve(const Expectations& e, Index n) {
    constexpr double farthest = 0.3;  // radian
    signs(e, n);
    for (Index j = 0; j < n; ++j) {
      E(j, j) = (1 - e.S(j, j)) / 2;
      for (Index i = 0; i < j; ++i) {
        const double apart = -e.S(i, j);  // E_ij + E_ji
        const double c = curvature(e, i, j);
        const double gradient = k(i) * e.T(i, j) - k(j) * e.T(j, i);
        // k_i (T_ij + T_ii E_ji + D_ij E_ij) = k_j (T_ji + T_jj E_ij + D_ji E_ji),  E = apart / 2 +- turn
        const double turn = std::clamp(
            -rest(e, i, j, gradient, apart) * std::abs(c) / (c * c + least * least), -farthest, farthest);
        E(i, j) = apart / 2 + turn;
        E(j, i) = apart / 2 - turn;
      }
    }
  }
};

}  // namespace demix
