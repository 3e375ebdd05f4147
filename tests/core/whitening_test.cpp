#include "demix/whitening.hpp"

#include <cmath>
#include <limits>
#include <string>

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

template <typename T>
Whitening whitened(const Matrix<T>& X, const WhiteningOptions& options = {}) {
  Moments m(X.rows());
  m.add(X);
  return whiten(m, options);
}

Matrix<double> output_covariance(const Whitening& w, const Matrix<double>& X) {
  const Matrix<double> h = w.whitener * (X.colwise() - w.mean);
  return h * h.transpose() / static_cast<double>(X.cols());
}

template <typename T>
Matrix<T> mixed_noise(Index n, Index samples) {
  Random random(5);
  const Matrix<double> A = random.normal(n, n);
  return (A * random.normal(n, samples)).template cast<T>();
}

TYPED_TEST(Scalar, OutputsAreWhiteAndTheInverseFits) {
  const Matrix<TypeParam> X = mixed_noise<TypeParam>(6, 4000);
  const Whitening w = whitened(X);
  EXPECT_EQ(w.rank, 6);
  EXPECT_TRUE(w.constant.empty());
  EXPECT_TRUE(output_covariance(w, X.template cast<double>()).isIdentity(1e-10));
  EXPECT_TRUE((w.whitener * w.dewhitener).isIdentity(1e-10));
}

TYPED_TEST(Scalar, ConstantDuplicatedAndDependentChannelsReduceTheRank) {
  const Matrix<TypeParam> base = mixed_noise<TypeParam>(3, 4000);
  Matrix<TypeParam> X(7, base.cols());
  X.row(0) = base.row(0);
  X.row(1).setConstant(TypeParam(3.7));
  X.row(2) = base.row(1);
  X.row(3) = base.row(0);  // duplicate
  X.row(4) = base.row(2);
  X.row(5) = TypeParam(0.3) * base.row(0) - base.row(1);  // dependent, rounded
  X.row(6).setZero();
  const Whitening w = whitened(X);
  EXPECT_EQ(w.rank, 3);
  EXPECT_EQ(w.constant, (std::vector<Index>{1, 6}));
  EXPECT_TRUE(w.whitener.allFinite());
  EXPECT_TRUE(output_covariance(w, X.template cast<double>()).isIdentity(1e-6));
  // What was kept describes the data completely.
  const Matrix<double> Z = X.template cast<double>().colwise() - w.mean;
  EXPECT_TRUE((w.dewhitener * (w.whitener * Z)).isApprox(Z, 1e-5));
}

TYPED_TEST(Scalar, UnitsDoNotMatter) {
  Matrix<TypeParam> X = mixed_noise<TypeParam>(3, 4000);
  X.row(1) *= TypeParam(1e-12);
  X.row(2) *= TypeParam(1e9);
  EXPECT_EQ(whitened(X).rank, 3);
}

TYPED_TEST(Scalar, AnOffsetDoesNotHideTheSignal) {
  Matrix<TypeParam> X = mixed_noise<TypeParam>(3, 4000);
  X.row(0).array() += TypeParam(1e6) * TypeParam(std::sqrt(X.row(0).squaredNorm() / X.cols()));
  const Whitening w = whitened(X);
  EXPECT_EQ(w.rank, 3);
  EXPECT_TRUE(output_covariance(w, X.template cast<double>()).isIdentity(1e-3));
}

TEST(Whitening, IllConditionedMixturesKeepTheirRank) {
  Random random(8);
  Vector<double> s(4);
  s << 1, 1e-2, 1e-4, 1e-6;
  const Matrix<double> U = random.orthogonal(4);
  const Matrix<double> A = U * s.asDiagonal() * random.orthogonal(4).transpose();
  const Matrix<double> X = A * random.normal(4, 100000);
  const Whitening w = whitened(X);
  EXPECT_EQ(w.rank, 4);
  EXPECT_GT(w.condition, 1e3);
  EXPECT_TRUE(output_covariance(w, X).isIdentity(1e-3));
}

TEST(Whitening, FewerComponentsAreThoseOfMostPower) {
  Random random(2);
  Matrix<double> X = random.normal(4, 5000);
  X.row(2) *= 100;
  X.row(0) *= 10;
  WhiteningOptions options;
  options.components = 2;
  const Whitening w = whitened(X, options);
  EXPECT_EQ(w.rank, 4);
  EXPECT_EQ(w.components(), 2);
  EXPECT_TRUE(output_covariance(w, X).isIdentity(1e-10));
  EXPECT_GT(std::abs(w.dewhitener(2, 0)), 99);
  EXPECT_GT(std::abs(w.dewhitener(0, 1)), 9.9);
}

TEST(Whitening, AShareOfThePowerIsHeldByAsFewAsNeeded) {
  Matrix<double> X(4, 512);  // exactly uncorrelated; 9, 70, 1 and 20 % of the power
  for (Index t = 0; t < X.cols(); ++t) {
    for (Index i = 0; i < 4; ++i) X(i, t) = ((t >> i) & 1) != 0 ? 1 : -1;
  }
  X = Vector<double>({{std::sqrt(9.0), std::sqrt(70.0), 1.0, std::sqrt(20.0)}}).asDiagonal() * X;
  const auto kept = [&](double share) {
    WhiteningOptions options;
    options.share = share;
    const Whitening w = whitened(X, options);
    EXPECT_EQ(w.rank, 4);  // of the data, whatever is kept
    EXPECT_TRUE(output_covariance(w, X).isIdentity(1e-10));
    return w.components();
  };
  EXPECT_EQ(kept(0), 4);  // not asked for
  EXPECT_EQ(kept(1e-6), 1);
  EXPECT_EQ(kept(0.69), 1);
  EXPECT_EQ(kept(0.71), 2);
  EXPECT_EQ(kept(0.89), 2);
  EXPECT_EQ(kept(0.91), 3);
  EXPECT_EQ(kept(0.98), 3);
  EXPECT_EQ(kept(0.995), 4);
  EXPECT_EQ(kept(1), 4);
  WhiteningOptions both;  // the smaller of the two
  both.share = 0.91;
  both.components = 2;
  EXPECT_EQ(whitened(X, both).components(), 2);
  both.share = 0.5;
  EXPECT_EQ(whitened(X, both).components(), 1);
}

std::string refusal(const Vector<double>& mean, const Matrix<double>& C, double resolution) {
  try {
    whiten(mean, C, resolution);
  } catch (const std::invalid_argument& e) {
    return e.what();
  }
  return "accepted";
}

TEST(Whitening, SquaresThatOverflowAreRefused) {
  Matrix<double> X(2, 5);
  X << 1e200, -1e200, 3e199, 4, 1, 1, 2, 5, 5, 7;
  EXPECT_THROW(whitened(X), std::invalid_argument);
  EXPECT_THROW(whitened(Matrix<double>(X.colwise().reverse())), std::invalid_argument);
  const double inf = std::numeric_limits<double>::infinity();
  const Vector<double> zero = Vector<double>::Zero(3);
  const Matrix<double> I = Matrix<double>::Identity(3, 3);
  for (const double value : {inf, -inf, std::nan("")}) {
    for (const Index row : {0, 1, 2}) {
      for (const Index column : {0, 1, 2}) {
        Matrix<double> C = I;
        C(row, column) = C(column, row) = value;
        EXPECT_NE(refusal(zero, C, 1e-16).find("too large to square, or not finite"), std::string::npos);
      }
    }
    Vector<double> mean = zero;
    mean(1) = value;
    EXPECT_NE(refusal(mean, I, 1e-16).find("channel 2"), std::string::npos);
  }
  EXPECT_NE(refusal(Vector<double>{{0, 0, 1e200}}, I, 1e-16).find("channel 3"), std::string::npos);
  EXPECT_NE(refusal(zero, Matrix<double>::Identity(2, 2), 1e-16).find("covariance"), std::string::npos);
}

// Each of many channels is just above its rounding, which as a whole hides all of them.
TEST(Whitening, RankZeroIsRefused) {
  const Index n = 16;
  const Vector<double> mean = Vector<double>::Constant(n, 1e8);
  const double noise = std::pow(1e8 * 1e-7, 2) / 12;
  const Matrix<double> I = Matrix<double>::Identity(n, n);
  EXPECT_NE(refusal(mean, 5 * noise * I, 1e-7).find("nothing to separate"), std::string::npos);
  EXPECT_EQ(refusal(mean, 1e3 * noise * I, 1e-7), "accepted");
}

TEST(Whitening, NothingToSeparateIsSaid) {
  EXPECT_THROW(whitened<double>(Matrix<double>::Constant(3, 10, 2.5)), std::invalid_argument);
  WhiteningOptions options;
  options.rank_tolerance = 2;
  EXPECT_THROW(whitened<double>(mixed_noise<double>(2, 10), options), std::invalid_argument);
}

}  // namespace
}  // namespace demix
