#include "batch/joint_diagonaliser.hpp"

#include <Eigen/Jacobi>

#include <algorithm>
#include <cmath>

namespace demix {
namespace {

double best_angle(const Matrix<double>& A, Index p, Index q) {
  const auto difference = A.col(pair_index(p, p)) - A.col(pair_index(q, q));
  const auto A_pq = A.col(pair_index(p, q));
  return std::atan2(4 * difference.dot(A_pq), difference.squaredNorm() - 4 * A_pq.squaredNorm()) / 4;
}

// Of columns: a_p <- cos a_p + sin a_q, a_q <- cos a_q - sin a_p
Eigen::JacobiRotation<double> rotation(double angle) { return {std::cos(angle), -std::sin(angle)}; }

// A_m <- R^T A_m R for every m
void rotate(Matrix<double>& A, Index d, Index p, Index q, double angle) {
  const auto entry = [](Index i, Index j) { return pair_index(std::min(i, j), std::max(i, j)); };
  for (Index r = 0; r < d; ++r) {
    if (r != p && r != q) A.applyOnTheRight(entry(p, r), entry(q, r), rotation(angle));
  }
  // A_pp + A_qq stays, [(A_pp - A_qq)/2; A_pq] turns by twice the angle.
  auto A_pp = A.col(pair_index(p, p)).array();
  auto A_qq = A.col(pair_index(q, q)).array();
  auto A_pq = A.col(pair_index(p, q)).array();
  const Eigen::ArrayXd middle = (A_pp + A_qq) / 2;
  const Eigen::ArrayXd half = (A_pp - A_qq) / 2;
  A_pp = middle + std::cos(2 * angle) * half + std::sin(2 * angle) * A_pq;
  A_qq = 2 * middle - A_pp;
  A_pq = std::cos(2 * angle) * A_pq - std::sin(2 * angle) * half;
}

}  // namespace

JointDiagonalisation joint_diagonalise(Matrix<double> A, Index max_sweeps, double tolerance) {
  Index d = 0;
  while (pair_index(0, d) < A.cols()) ++d;
  JointDiagonalisation out{Matrix<double>::Identity(d, d)};
  do {
    out.turning = 0;
    for (Index q = 1; q < d; ++q) {
      for (Index p = 0; p < q; ++p) {
        const double angle = best_angle(A, p, q);
        if (!(std::abs(angle) > tolerance)) continue;
        rotate(A, d, p, q, angle);
        out.V.applyOnTheRight(p, q, rotation(angle));
        ++out.turning;
      }
    }
    ++out.sweeps;
  } while (out.turning > 0 && out.sweeps < max_sweeps);
  return out;
}

}  // namespace demix
