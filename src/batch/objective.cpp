#include "demix/objective.hpp"

#include <stdexcept>

#include "demix/linear_algebra.hpp"
#include "demix/moments.hpp"

namespace demix {

Matrix<double> gamma_inverse(const Frames<double>& X, Weight weight) {
  // P = L^-1 with C = L L^T whitens; then Gamma_x^-1 = L C_z L^T.
  const Matrix<double> C = X * X.transpose() / static_cast<double>(X.cols());
  const Cholesky llt(C);
  if (!llt.positive_definite()) throw std::invalid_argument("X: its covariance is singular");
  const Matrix<double> L = llt.L().triangularView<Eigen::Lower>();
  const Matrix<double> P =
      L.triangularView<Eigen::Lower>().solve(Matrix<double>::Identity(C.rows(), C.cols()));
  WeightedMoments weighted(Vector<double>::Zero(X.rows()), P, weight);
  weighted.add(X);
  return L * weighted.covariance() * L.transpose();
}

// With G = X^T Gamma X and K = Y^T Lambda^2 Y:  ||G - K||^2 = Tr G^2 - 2 Tr G K + Tr K^2, each through d x d
// products.
double similarity_objective(const Frames<double>& X, const Matrix<double>& gamma_inv, const Frames<double>& Y,
                            const Vector<double>& lambda2) {
  const auto T = static_cast<double>(X.cols());
  const Cholesky gamma(gamma_inv);
  const Matrix<double> Cx = X * X.transpose() / T;
  const Matrix<double> Cy = Y * Y.transpose() / T;
  const Matrix<double> Cxy = X * Y.transpose() / T;
  const Matrix<double> GC = gamma.solve(Cx);            // Gamma C_x
  const Matrix<double> LC = lambda2.asDiagonal() * Cy;  // Lambda^2 C_y
  const Matrix<double> cross =
      gamma.solve(Cxy) * lambda2.asDiagonal() * Cxy.transpose();  // Gamma C_xy Lambda^2 C_yx
  return (GC * GC).trace() - 2 * cross.trace() + (LC * LC).trace();
}

double min_max_objective(const Matrix<double>& W, const Matrix<double>& M, const Frames<double>& Y,
                         const Frames<double>& X, const Matrix<double>& gamma_inv,
                         const Vector<double>& lambda2) {
  const auto T = static_cast<double>(X.cols());
  const double data = (-2 * (W * X).cwiseProduct(Y).sum() + (M * Y).cwiseProduct(Y).sum()) / T;
  return data + (lambda2.cwiseInverse().asDiagonal() * (W * gamma_inv * W.transpose())).diagonal().sum() -
         M.trace();
}

}  // namespace demix
