#pragma once

#include <Eigen/Eigenvalues>

#include "demix/types.hpp"

namespace demix {

/// M = vectors diag(values) vectors^T, values ascending. Up to 32 x 32 without the heap, which Eigen's solver
/// of dynamic size cannot do.
class SymmetricEigen {
 public:
  explicit SymmetricEigen(Index n)
      : values_(Vector<double>::Zero(n)), vectors_(Matrix<double>::Zero(n, n)), large_(n > 32 ? n : 1) {}

  void compute(const Matrix<double>& M, int what = Eigen::ComputeEigenvectors) {
    if (M.rows() <= 32) {
      small_.compute(M, what);
      copy(small_, what);
    } else {
      large_.compute(M, what);
      copy(large_, what);
    }
  }
  const Vector<double>& values() const { return values_; }
  const Matrix<double>& vectors() const { return vectors_; }

 private:
  template <typename Solver>
  void copy(const Solver& solver, int what) {
    values_ = solver.eigenvalues();
    if (what == Eigen::ComputeEigenvectors) vectors_ = solver.eigenvectors();
  }
  Vector<double> values_;
  Matrix<double> vectors_;
  Eigen::SelfAdjointEigenSolver<
      Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, 32, 32>>
      small_;
  Eigen::SelfAdjointEigenSolver<Matrix<double>> large_;
};

}  // namespace demix
