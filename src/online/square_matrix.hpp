#pragma once

#include <algorithm>
#include <cmath>

#include "core/frame_kernels.hpp"
#include "demix/types.hpp"
#include "online/block_kernels.hpp"

/// Square matrices of a stream, their rows padded for block_kernels.hpp: n columns, of which the first n rows
/// mean something. Their products and inverses take nothing from the heap.
namespace demix {

inline Matrix<double> padded_square(Index n) { return Matrix<double>::Zero(block_stride<double>(n), n); }

/// C <- A B, of the first m rows of A, n columns of B, and so many products each. C is not A or B.
inline void product(const Matrix<double>& A, const Matrix<double>& B, Index m, Index n, Index depth,
                    Matrix<double>& C) {
  C.topLeftCorner(m, n).setZero();
  kernels::multiply_add(A.data(), A.rows(), B.data(), B.rows(), 1, m, n, depth, C.data(), C.rows());
}
/// C <- A B^T
inline void product_transposed(const Matrix<double>& A, const Matrix<double>& B, Index m, Index n,
                               Index depth, Matrix<double>& C) {
  C.topLeftCorner(m, n).setZero();
  kernels::multiply_add(A.data(), A.rows(), B.data(), 1, B.rows(), m, n, depth, C.data(), C.rows());
}

/// S <- A S A^T for a symmetric S of size n; `work` is used.
inline void transform_symmetric(const Matrix<double>& A, Index n, Matrix<double>& S, Matrix<double>& work) {
  product(A, S, n, n, n, work);
  product_transposed(work, A, n, n, n, S);
  for (Index j = 0; j < n; ++j) {
    for (Index i = 0; i < j; ++i) S(i, j) = S(j, i) = (S(i, j) + S(j, i)) / 2;
  }
}

/// out <- A^-1 by Gauss and Jordan with partial pivoting; A becomes the identity. False: A is singular.
inline bool invert(Matrix<double>& A, Index n, Matrix<double>& out) {
  out.setZero();
  out.topLeftCorner(n, n).setIdentity();
  auto a = A.topLeftCorner(n, n);
  auto b = out.topLeftCorner(n, n);
  for (Index k = 0; k < n; ++k) {
    Index pivot = k;
    a.col(k).tail(n - k).cwiseAbs().maxCoeff(&pivot);
    pivot += k;
    if (!(std::abs(a(pivot, k)) > 0)) return false;
    if (pivot != k) {
      a.row(k).swap(a.row(pivot));
      b.row(k).swap(b.row(pivot));
    }
    const double inverse = 1 / a(k, k);
    a.row(k) *= inverse;
    b.row(k) *= inverse;
    const auto eliminate = [&](auto& M, Index j, const auto& column) {
      const double f = M(k, j);
      if (f == 0) return;
      M.col(j) -= f * column;
      M(k, j) = f;
    };
    for (Index j = 0; j < n; ++j) eliminate(b, j, a.col(k));
    for (Index j = k + 1; j < n; ++j) eliminate(a, j, a.col(k));
    a.col(k).setZero();
    a(k, k) = 1;
  }
  return true;
}

/// Cholesky of the first n rows and columns of C, in place: C = L L^T, L in the lower triangle, 0 above it. A
/// pivot not above `least` makes its column 0. Returns the smallest pivot.
inline double cholesky(Matrix<double>& C, Index n, double least = 0) {
  double smallest = 1e300;
  for (Index j = 0; j < n; ++j) {
    auto column = C.col(j).segment(j, n - j);
    for (Index k = 0; k < j; ++k) column -= C(j, k) * C.col(k).segment(j, n - j);
    const double pivot = column(0);
    smallest = std::min(smallest, pivot);
    if (pivot > least) {
      column /= std::sqrt(pivot);
    } else {
      column.setZero();
    }
    C.col(j).head(j).setZero();
  }
  return smallest;
}

}  // namespace demix
