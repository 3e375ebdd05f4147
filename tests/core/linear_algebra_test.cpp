#include "demix/linear_algebra.hpp"

#include <limits>

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

constexpr double rounding = 1e-10;
const std::vector<Index> sizes{1, 2, 5, 32, 33, 50};  // on both sides of where the heap is used

Matrix<double> some(Index rows, Index cols) {
  return Random(static_cast<std::uint64_t>(rows * 100 + cols)).normal(rows, cols);
}

Matrix<double> some_covariance(Index n) {
  const Matrix<double> A = some(n, 2 * n);
  return A * A.transpose() / static_cast<double>(n);
}

Matrix<double> identity(Index n) { return Matrix<double>::Identity(n, n); }

TEST(LinearAlgebra, Eigenpairs) {
  for (const Index n : sizes) {
    const Matrix<double> C = some_covariance(n);
    const Eigenpairs e = symmetric_eigen(C);
    EXPECT_LT((C * e.vectors - e.vectors * e.values.asDiagonal()).norm(), rounding) << n;
    EXPECT_LT((e.vectors.transpose() * e.vectors - identity(n)).norm(), rounding) << n;
    for (Index i = 1; i < n; ++i) EXPECT_LE(e.values(i - 1), e.values(i));
    Vector<double> values;
    symmetric_eigenvalues(C, values);
    EXPECT_LT((values - e.values).norm(), rounding) << n;
    const Matrix<double> root = inverse_sqrt(e);
    EXPECT_LT((root * C * root - identity(n)).norm(), rounding) << n;
  }
}

TEST(LinearAlgebra, InverseSolveDeterminant) {
  for (const Index n : sizes) {
    const Matrix<double> A = some(n, n);
    EXPECT_LT((A * inverse(A) - identity(n)).norm(), rounding) << n;
    const Vector<double> b = some(n, 1);
    Vector<double> x(n);
    solve(A, b, x);
    EXPECT_LT((A * x - b).norm(), rounding) << n;
    EXPECT_NEAR(determinant(A) * determinant(inverse(A)), 1, rounding) << n;
    Matrix<double> swapped = A;
    if (n > 1) swapped.row(0).swap(swapped.row(1));
    EXPECT_NEAR(determinant(swapped) / determinant(A), n > 1 ? -1 : 1, rounding) << n;
  }
}

TEST(LinearAlgebra, SingularValues) {
  for (const Index n : sizes) {
    const Matrix<double> A = some(n, n);
    const Vector<double> s = singular_values(A);
    EXPECT_LT((s.cwiseAbs2().reverse() - symmetric_eigen(A * A.transpose()).values).norm(), 1e-8) << n;
    RightSingular right;
    right_singular(A, right);
    EXPECT_LT((right.values - s).norm(), rounding) << n;
    EXPECT_LT((right.V.transpose() * right.V - identity(n)).norm(), rounding) << n;
    EXPECT_LT(((A * right.V).colwise().norm().transpose() - s).norm(), rounding) << n;
  }
  EXPECT_EQ(singular_values(some(3, 7)).size(), 3);
}

// Penrose's four conditions, of a matrix of rank 3.
TEST(LinearAlgebra, PseudoInverse) {
  const Matrix<double> A = some(8, 3) * some(3, 5);
  const Matrix<double> P = pseudo_inverse(A);
  EXPECT_LT((A * P * A - A).norm(), rounding);
  EXPECT_LT((P * A * P - P).norm(), rounding);
  EXPECT_LT((A * P - (A * P).transpose()).norm(), rounding);
  EXPECT_LT((P * A - (P * A).transpose()).norm(), rounding);
  const Matrix<double> B = some(8, 2);
  EXPECT_LT((least_squares(A, B) - P * B).norm(), rounding);
}

TEST(LinearAlgebra, PivotedQr) {
  const Matrix<double> A = some(9, 3) * some(3, 6);
  const PivotedQr qr = pivoted_qr(A);
  ASSERT_EQ(qr.rank, 3);
  const Matrix<double> first = A(Eigen::all, qr.order).leftCols(3);
  EXPECT_LT((first.transpose() * first - qr.R.transpose() * qr.R).norm(), rounding);
  EXPECT_TRUE(qr.R.isUpperTriangular());
}

template <typename T>
class CholeskyTest : public testing::Scalar<T> {};
TYPED_TEST_SUITE(CholeskyTest, testing::Scalars);

TYPED_TEST(CholeskyTest, SolvesAndTellsWhatIsNotPositiveDefinite) {
  using T = TypeParam;
  const T close = 1000 * std::numeric_limits<T>::epsilon();
  for (const Index n : sizes) {
    Matrix<T> C = some_covariance(n).cast<T>();
    Cholesky<T> cholesky(n);
    ASSERT_TRUE(cholesky.compute(C)) << n;
    const Matrix<T> L = cholesky.L().template triangularView<Eigen::Lower>();
    EXPECT_LT((L * L.transpose() - C).norm(), close * C.norm()) << n;
    const Matrix<T> B = some(n, 3).cast<T>();
    const Matrix<T> X = cholesky.solve(B);
    EXPECT_LT((C * X - B).norm(), close * C.norm() * X.norm()) << n;
    Vector<T> b = B.col(0);
    cholesky.solve_in_place(b);
    EXPECT_LT((b - X.col(0)).norm(), close * X.norm()) << n;
    C(n - 1, n - 1) = -1;
    EXPECT_FALSE(cholesky.compute(C)) << n;
    EXPECT_FALSE(cholesky.positive_definite()) << n;
  }
}

}  // namespace
}  // namespace demix
