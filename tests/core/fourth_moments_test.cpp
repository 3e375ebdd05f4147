#include "demix/fourth_moments.hpp"

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

Matrix<double> with_constant(const Matrix<double>& X) {
  Matrix<double> out(X.rows() + 1, X.cols());
  out << Eigen::RowVectorXd::Ones(X.cols()), X;
  return out;
}

Matrix<double> sample(Index d, Index frames, std::uint64_t seed) {
  Random random(seed);
  Matrix<double> X = random.normal(d, frames);
  X.array() += 0.5;
  return X;
}

template <typename T>
class FourthMomentsTest : public testing::Scalar<T> {
 public:
  static constexpr double rounding = std::is_same_v<T, float> ? 3e-6 : 1e-13;
};
TYPED_TEST_SUITE(FourthMomentsTest, testing::Scalars);

TYPED_TEST(FourthMomentsTest, EqualsTheSumOverFrames) {
  for (const Index d : {1, 2, 5, 9}) {
    const Matrix<double> X = sample(d, 75, 1);
    FourthMoments<TypeParam> F(d, 32);
    F.add(X);
    const Matrix<double> x = with_constant(X);
    for (Index a = 0; a <= d; ++a) {
      for (Index b = 0; b <= d; ++b) {
        for (Index c = 0; c <= d; ++c) {
          for (Index e = 0; e <= d; ++e) {
            const Eigen::ArrayXd terms =
                x.row(a).array() * x.row(b).array() * x.row(c).array() * x.row(e).array();
            EXPECT_NEAR(F(a, b, c, e), terms.sum(), this->rounding * terms.abs().sum()) << a << b << c << e;
          }
        }
      }
    }
  }
}

TYPED_TEST(FourthMomentsTest, HoldsNothingTwice) {
  const auto choose4 = [](Index m) { return m * (m - 1) * (m - 2) * (m - 3) / 24; };
  for (const Index d : {1, 4, 16, 32}) {
    EXPECT_EQ(static_cast<Index>(FourthMoments<TypeParam>(d, 16).sums().size()), choose4(d + 4));
  }
}

TYPED_TEST(FourthMomentsTest, ContractsAsTheFramesWould) {
  for (const Index d : {1, 3, 8, 20}) {
    const Matrix<double> X = sample(d, 300, 2);
    FourthMoments<TypeParam> F(d, 64);
    F.add(X);
    const Matrix<double> x = with_constant(X);
    const Matrix<double> H = Random(3).normal(d, d + 1);
    const Eigen::VectorXd a = (H * x).colwise().squaredNorm().transpose();
    const Matrix<double> expected = x * a.asDiagonal() * x.transpose();
    EXPECT_LT((F.contract(H.transpose() * H) - expected).norm(), 10 * this->rounding * expected.norm());
  }
}

TYPED_TEST(FourthMomentsTest, MovesWithTheCoordinates) {
  for (const Index d : {1, 3, 7}) {
    const Matrix<double> X = sample(d, 200, 4);
    Random random(5);
    Matrix<double> A = Matrix<double>::Zero(d + 1, d + 1);
    A(0, 0) = 1;
    A.bottomRows(d) = random.normal(d, d + 1);
    FourthMoments<TypeParam> before(d, 64);
    before.add(X);
    before.transform(A);
    FourthMoments<TypeParam> after(d, 64);
    after.add((A * with_constant(X)).bottomRows(d));
    double largest = 0;
    double difference = 0;
    for (std::size_t k = 0; k < after.sums().size(); ++k) {
      largest = std::max(largest, std::abs(after.sums()[k]));
      difference = std::max(difference, std::abs(after.sums()[k] - before.sums()[k]));
    }
    EXPECT_LT(difference, 10 * this->rounding * largest);
  }
}

TYPED_TEST(FourthMomentsTest, ForgetsAndForgetsTheOrder) {
  const Matrix<double> X = sample(4, 128, 6);
  FourthMoments<TypeParam> forward(4, 64);
  forward.add(X.leftCols(64));
  forward.add(X.rightCols(64));
  FourthMoments<TypeParam> backward(4, 64);
  backward.add(X.rightCols(64));
  backward.add(X.leftCols(64));
  FourthMoments<TypeParam> faded(4, 64);
  faded.add(X.leftCols(64));
  faded.add(X.rightCols(64), 0.5);
  FourthMoments<TypeParam> first(4, 64);
  first.add(X.leftCols(64));
  for (std::size_t k = 0; k < forward.sums().size(); ++k) {
    EXPECT_NEAR(forward.sums()[k], backward.sums()[k], 1e-12 * std::abs(forward.sums()[k]) + 1e-12);
    EXPECT_NEAR(forward.sums()[k] - faded.sums()[k], first.sums()[k] / 2, 1e-10);
  }
}

}  // namespace
}  // namespace demix
