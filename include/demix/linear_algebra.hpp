#pragma once

#include "demix/types.hpp"

/// The decompositions everything else uses, compiled once: Eigen's own take seconds of every file that uses
/// them. What writes into `out` takes nothing from the heap up to 32 x 32, if `out` has its size already.
namespace demix {

/// C = vectors diag(values) vectors^T, values ascending.
struct Eigenpairs {
  Vector<double> values;
  Matrix<double> vectors;
};

Eigenpairs symmetric_eigen(const Matrix<double>& C);
void symmetric_eigen(const Matrix<double>& C, Eigenpairs& out);
void symmetric_eigenvalues(const Matrix<double>& C, Vector<double>& out);
Matrix<double> inverse_sqrt(const Eigenpairs& C);          ///< C^-1/2
Matrix<double> orthonormal_rows(const Matrix<double>& W);  ///< (W W^T)^-1/2 W

/// By LU with partial pivoting, of square matrices.
Matrix<double> inverse(const Matrix<double>& A);
void inverse(const Matrix<double>& A, Matrix<double>& out);
void solve(const Matrix<double>& A, const Vector<double>& b, Vector<double>& out);  ///< A^-1 b
double determinant(const Matrix<double>& A);

/// For any shape and rank.
Vector<double> singular_values(const Matrix<double>& A);  ///< descending
Matrix<double> pseudo_inverse(const Matrix<double>& A);
Matrix<double> least_squares(const Matrix<double>& A, const Matrix<double>& B);  ///< X of least ||A X - B||

/// A = U diag(values) V^T, square, values descending.
struct RightSingular {
  Vector<double> values;
  Matrix<double> V;
};
void right_singular(const Matrix<double>& A, RightSingular& out);

/// A = Q R: Q of orthonormal columns, R upper triangular (or trapezoidal).
struct Qr {
  Matrix<double> Q;
  Matrix<double> R;
};
Qr qr(const Matrix<double>& A);

/// A with its columns in this order = Q R. The first `rank` columns are independent.
struct PivotedQr {
  Matrix<double> R;  ///< rank x rank, upper triangular
  std::vector<Index> order;
  Index rank = 0;
};
PivotedQr pivoted_qr(const Matrix<double>& A);

/// C = L L^T. T: float or double.
template <typename T>
class Cholesky {
 public:
  explicit Cholesky(Index size) : L_(Matrix<T>::Zero(size, size)) {}
  explicit Cholesky(const Matrix<T>& C) { compute(C); }

  /// Takes nothing from the heap if C is of the size it was made with. False: not positive definite.
  bool compute(const Matrix<T>& C);
  bool positive_definite() const { return positive_definite_; }

  const Matrix<T>& L() const { return L_; }   ///< in the lower triangle; what is above it means nothing
  Matrix<T> solve(const Matrix<T>& B) const;  ///< C^-1 B
  void solve_in_place(Vector<T>& b) const;

 private:
  Matrix<T> L_;
  bool positive_definite_ = false;
};

extern template class Cholesky<float>;
extern template class Cholesky<double>;

}  // namespace demix
