#include "online/kernels.hpp"

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "simd_support.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

// Matrices in the kernels' padded form.
template <typename T>
struct Padded {
  Matrix<T> M, W;
  Vector<T> c, y, scratch;
  Index ld;
  Padded(const Matrix<T>& lateral, const Matrix<T>& feedforward) {
    const Index d = lateral.rows();
    ld = kernels::leading<T>(d);
    M = Matrix<T>::Identity(ld, kernels::padded<T>(d));
    M.topLeftCorner(d, d) = lateral;
    W = Matrix<T>::Zero(ld, feedforward.cols());
    W.topRows(d) = feedforward;
    c = y = Vector<T>::Zero(ld);
    scratch = Vector<T>::Zero(kernels::solve_scratch<T>(d));
  }
};

template <typename T>
Matrix<T> positive_definite(Index d, Random& random) {
  const Matrix<double> B = random.normal(d, d);
  return (B * B.transpose() / static_cast<double>(d) + 0.3 * Matrix<double>::Identity(d, d)).cast<T>();
}

template <typename T>
void expect_kernels_to_agree_with_eigen() {
  Random random(1);
  const T tolerance = 500 * std::numeric_limits<T>::epsilon();
  for (Index d = 1; d <= 70; ++d) {
    const Index n = d + d % 5;
    const Matrix<T> M = positive_definite<T>(d, random);
    const Matrix<T> W = random.normal(d, n).cast<T>();
    const Vector<T> x = random.normal(n, 1).cast<T>();
    Padded<T> p(M, W);
    kernels::project(p.W.data(), p.ld, d, n, x.data(), p.c.data());
    EXPECT_TRUE(p.c.head(d).isApprox(W * x, tolerance)) << d;
    const Vector<T> c = p.c.head(d);
    ASSERT_TRUE(kernels::lateral_solve(p.M.data(), p.ld, d, p.c.data(), p.y.data(), p.scratch.data()));
    EXPECT_TRUE(p.y.head(d).isApprox(Cholesky<T>(M).solve(c), tolerance)) << d;
    EXPECT_TRUE((M * p.y.head(d)).isApprox(c, tolerance)) << d;
    EXPECT_EQ(p.y.tail(p.ld - d).norm(), 0);

    const Vector<T> y = p.y.head(d);
    Padded<T> learned = p;
    kernels::feedforward_learn(learned.W.data(), p.ld, d, n, p.y.data(), x.data());
    EXPECT_TRUE(learned.W.topRows(d).isApprox(W + y * x.transpose(), tolerance));
    EXPECT_EQ(learned.W.bottomRows(p.ld - d).norm(), 0);
    kernels::lateral_learn(learned.M.data(), p.ld, d, T(0.25), p.y.data());
    const Matrix<T> expected = M + T(0.25) * (y * y.transpose() - Matrix<T>::Identity(d, d));
    const Matrix<T> got = learned.M.topLeftCorner(d, d).template selfadjointView<Eigen::Lower>();
    EXPECT_TRUE(got.isApprox(expected, tolerance)) << d;
  }
}

TYPED_TEST(Scalar, KernelsAgreeWithEigenForEverySize) {
  for (const std::string& generation : simd::available()) {
    SCOPED_TRACE(generation);
    simd::use(generation);
    expect_kernels_to_agree_with_eigen<TypeParam>();
  }
  simd::use(simd::available().front());
}

TYPED_TEST(Scalar, AnIndefiniteMatrixIsNoticed) {
  using T = TypeParam;
  Random random(2);
  for (const Index d : {1, 2, 3, 4, 5, 9, 16, 33}) {
    Matrix<T> M = positive_definite<T>(d, random);
    const Vector<T> v = random.normal(d, 1).cast<T>().normalized();
    M -= (v.dot(M * v) + T(0.2)) * v * v.transpose();  // v^T M v = -.2
    Padded<T> p(M, Matrix<T>::Zero(d, d));
    p.c.head(d).setOnes();
    EXPECT_FALSE(kernels::lateral_solve(p.M.data(), p.ld, d, p.c.data(), p.y.data(), p.scratch.data())) << d;
    M(d - 1, d - 1) = std::numeric_limits<T>::quiet_NaN();
    Padded<T> q(M, Matrix<T>::Zero(d, d));
    EXPECT_FALSE(kernels::lateral_solve(q.M.data(), q.ld, d, q.c.data(), q.y.data(), q.scratch.data())) << d;
  }
}

}  // namespace
}  // namespace demix
