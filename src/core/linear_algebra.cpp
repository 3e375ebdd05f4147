#include "demix/linear_algebra.hpp"

#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>

namespace demix {
namespace {

// Memory on the stack, which Eigen's matrices of any size do not use.
constexpr Index small = 32;
using Small = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::ColMajor, small, small>;

template <typename M>
void eigen_into(const Matrix<double>& C, Eigenpairs& out) {
  Eigen::SelfAdjointEigenSolver<M> eig;
  eig.compute(C);
  out.values = eig.eigenvalues();
  out.vectors = eig.eigenvectors();
}

template <typename M>
void inverse_into(const Matrix<double>& A, Matrix<double>& out) {
  Eigen::PartialPivLU<M> lu;
  lu.compute(A);
  out = lu.inverse();
}

template <typename M>
void solve_into(const Matrix<double>& A, const Vector<double>& b, Vector<double>& out) {
  Eigen::PartialPivLU<M> lu;
  lu.compute(A);
  out.noalias() = lu.solve(b);
}

template <typename M>
void right_singular_into(const Matrix<double>& A, RightSingular& out) {
  Eigen::JacobiSVD<M, Eigen::NoQRPreconditioner> svd;
  svd.compute(A, Eigen::ComputeFullV);
  out.values = svd.singularValues();
  out.V = svd.matrixV();
}

}  // namespace

void symmetric_eigen(const Matrix<double>& C, Eigenpairs& out) {
  C.rows() <= small ? eigen_into<Small>(C, out) : eigen_into<Matrix<double>>(C, out);
}

Eigenpairs symmetric_eigen(const Matrix<double>& C) {
  Eigenpairs out;
  symmetric_eigen(C, out);
  return out;
}

void symmetric_eigenvalues(const Matrix<double>& C, Vector<double>& out) {
  if (C.rows() <= small) {
    Eigen::SelfAdjointEigenSolver<Small> eig;
    out = eig.compute(C, Eigen::EigenvaluesOnly).eigenvalues();
  } else {
    out = Eigen::SelfAdjointEigenSolver<Matrix<double>>(C, Eigen::EigenvaluesOnly).eigenvalues();
  }
}

Matrix<double> inverse_sqrt(const Eigenpairs& C) {
  return C.vectors * C.values.cwiseInverse().cwiseSqrt().asDiagonal() * C.vectors.transpose();
}

Matrix<double> orthonormal_rows(const Matrix<double>& W) {
  return inverse_sqrt(symmetric_eigen(W * W.transpose())) * W;
}

void inverse(const Matrix<double>& A, Matrix<double>& out) {
  A.rows() <= small ? inverse_into<Small>(A, out) : inverse_into<Matrix<double>>(A, out);
}

Matrix<double> inverse(const Matrix<double>& A) {
  Matrix<double> out;
  inverse(A, out);
  return out;
}

void solve(const Matrix<double>& A, const Vector<double>& b, Vector<double>& out) {
  A.rows() <= small ? solve_into<Small>(A, b, out) : solve_into<Matrix<double>>(A, b, out);
}

double determinant(const Matrix<double>& A) { return A.determinant(); }

Vector<double> singular_values(const Matrix<double>& A) { return A.jacobiSvd().singularValues(); }

Matrix<double> pseudo_inverse(const Matrix<double>& A) {
  return A.completeOrthogonalDecomposition().pseudoInverse();
}

Matrix<double> least_squares(const Matrix<double>& A, const Matrix<double>& B) {
  return A.completeOrthogonalDecomposition().solve(B);
}

void right_singular(const Matrix<double>& A, RightSingular& out) {
  A.rows() <= small ? right_singular_into<Small>(A, out) : right_singular_into<Matrix<double>>(A, out);
}

Qr qr(const Matrix<double>& A) {
  const Eigen::HouseholderQR<Matrix<double>> factored(A);
  const Index rank = std::min(A.rows(), A.cols());
  Qr out;
  out.Q = factored.householderQ() * Matrix<double>::Identity(A.rows(), rank);
  out.R = factored.matrixQR().topRows(rank).triangularView<Eigen::Upper>();
  return out;
}

PivotedQr pivoted_qr(const Matrix<double>& A) {
  const Eigen::ColPivHouseholderQR<Matrix<double>> qr(A);
  PivotedQr out;
  out.rank = qr.rank();
  out.R = qr.matrixR().topLeftCorner(out.rank, out.rank).triangularView<Eigen::Upper>();
  const auto& order = qr.colsPermutation().indices();
  out.order.assign(order.begin(), order.end());
  return out;
}

template <typename T>
bool Cholesky<T>::compute(const Matrix<T>& C) {
  L_ = C;
  const Eigen::LLT<Eigen::Ref<Matrix<T>>> in_place(L_);
  positive_definite_ = in_place.info() == Eigen::Success;
  return positive_definite_;
}

template <typename T>
Matrix<T> Cholesky<T>::solve(const Matrix<T>& B) const {
  Matrix<T> X = B;
  L_.template triangularView<Eigen::Lower>().solveInPlace(X);
  L_.transpose().template triangularView<Eigen::Upper>().solveInPlace(X);
  return X;
}

template <typename T>
void Cholesky<T>::solve_in_place(Vector<T>& b) const {
  L_.template triangularView<Eigen::Lower>().solveInPlace(b);
  L_.transpose().template triangularView<Eigen::Upper>().solveInPlace(b);
}

template class Cholesky<float>;
template class Cholesky<double>;

}  // namespace demix
