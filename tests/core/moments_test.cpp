#include "demix/moments.hpp"

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

template <typename T>
Matrix<T> noise(Index n, Index samples, double offset = 0) {
  Random random(3);
  const Matrix<double> A = random.normal(n, n);
  Matrix<double> X = A * random.normal(n, samples);
  X.array() += offset;
  return X.cast<T>();
}

// The definition, in long double.
Matrix<double> covariance_by_definition(const Matrix<double>& X) {
  using Long = Eigen::Matrix<long double, -1, -1>;
  Long L = X.cast<long double>();
  L.colwise() -= Long(L.rowwise().mean()).col(0).eval();
  return (L * L.transpose() / static_cast<long double>(X.cols())).cast<double>();
}

TYPED_TEST(Scalar, MomentsAgreeWithTheDefinition) {
  const Matrix<TypeParam> X = noise<TypeParam>(5, 3001);
  Moments m(5);
  m.add(X);
  EXPECT_EQ(m.count(), 3001);
  EXPECT_TRUE(m.covariance().isApprox(covariance_by_definition(X.template cast<double>()), 1e-13));
  EXPECT_TRUE(m.mean().isApprox(X.template cast<double>().rowwise().mean(), 1e-12));
}

TYPED_TEST(Scalar, AnyBlocksAndMergesGiveTheSameMoments) {
  const Matrix<TypeParam> X = noise<TypeParam>(4, 2500, 7);
  Moments whole(4);
  whole.add(X);
  for (const Index cut : {0, 1, 7, 511, 512, 513, 1800, 2500}) {
    Moments left(4);
    Moments right(4);
    left.add(X.leftCols(cut));
    for (Index t = cut; t < X.cols(); t += 97) right.add(X.middleCols(t, std::min<Index>(97, X.cols() - t)));
    left.merge(right);
    EXPECT_EQ(left.count(), whole.count());
    EXPECT_TRUE(left.mean().isApprox(whole.mean(), 1e-14));
    EXPECT_TRUE(left.covariance().isApprox(whole.covariance(), 1e-13)) << cut;
  }
}

TEST(Moments, AnOffsetAMillionTimesTheSignalCostsNothing) {
  const Matrix<double> X = noise<double>(4, 20000);
  for (const double offset : {1e3, 1e6, 1e9}) {
    // What the offset does to the data itself (rounding) is not the sum's fault: compare after that rounding.
    const Matrix<double> shifted = X.array() + offset;
    Moments m(4);
    m.add(shifted);
    EXPECT_TRUE(m.covariance().isApprox(covariance_by_definition(shifted), 1e-12)) << offset;
  }
  const Matrix<double> shifted = X.array() + 1e6;
  Moments m(4);
  m.add(shifted);
  EXPECT_TRUE(m.covariance().isApprox(covariance_by_definition(X), 1e-9));
}

TEST(Moments, WeightedMomentsMergeAndAgreeWithTheDefinition) {
  const Matrix<double> X = noise<double>(3, 1500);
  const Vector<double> mean = X.rowwise().mean();
  const Matrix<double> P = Random(9).normal(2, 3);
  for (const Weight w : {Weight::square, Weight::norm, Weight::log, Weight::reciprocal}) {
    Matrix<double> expected = Matrix<double>::Zero(2, 2);
    for (Index t = 0; t < X.cols(); ++t) {
      const Vector<double> h = P * (X.col(t) - mean);
      expected += weight_value(w, h.squaredNorm()) * h * h.transpose() / static_cast<double>(X.cols());
    }
    WeightedMoments a(mean, P, w);
    WeightedMoments b(mean, P, w);
    a.add(X.leftCols(700));
    b.add(X.rightCols(800));
    a.merge(b);
    EXPECT_TRUE(a.covariance().isApprox(expected, 1e-12));
  }
}

TEST(Moments, MisuseIsNamed) {
  Moments m(3);
  EXPECT_THROW(m.add(Matrix<double>::Zero(2, 5)), std::invalid_argument);
  EXPECT_THROW(m.merge(Moments(2)), std::invalid_argument);
  Matrix<double> X = Matrix<double>::Ones(2, 9);
  X(1, 4) = std::nan("");
  try {
    require_finite(X);
    FAIL() << "NaN passed";
  } catch (const std::invalid_argument& e) {
    EXPECT_STREQ(e.what(),
                 "X: value NaN in channel 2, frame 5; remove or repair frames with NaN or Inf first");
  }
}

// A frame of weight 2 is one that is there twice, one of weight 0 is not there, whatever it holds.
TEST(Moments, WeightsAreHowOftenAFrameIsThere) {
  Random random(21);
  const Matrix<double> X = random.normal(3, 1500);
  Vector<double> w(1500);
  Matrix<double> repeated(3, 4500);
  Index n = 0;
  for (Index t = 0; t < 1500; ++t) {
    w(t) = static_cast<double>(random.below(4));
    for (int k = 0; k < static_cast<int>(w(t)); ++k) repeated.col(n++) = X.col(t);
  }
  repeated.conservativeResize(3, n);
  Matrix<double> spoilt = X;
  for (Index t = 0; t < 1500; ++t) {
    if (w(t) == 0) spoilt.col(t).setConstant(NAN);
  }
  Moments weighted(3), plain(3);
  weighted.add(spoilt, w.data());
  plain.add(repeated);
  EXPECT_TRUE(weighted.mean().isApprox(plain.mean(), 1e-12));
  EXPECT_TRUE(weighted.covariance().isApprox(plain.covariance(), 1e-12));
  EXPECT_EQ(weighted.count(), (w.array() > 0).count());
  EXPECT_NEAR(weighted.effective_count(), w.sum() * w.sum() / w.squaredNorm(), 1e-9);

  const Matrix<double> P = random.normal(2, 3);
  WeightedMoments activity(plain.mean(), P), repeated_activity(plain.mean(), P);
  activity.add(spoilt, w.data());
  repeated_activity.add(repeated);
  EXPECT_TRUE(activity.covariance().isApprox(repeated_activity.covariance(), 1e-12));
}

}  // namespace
}  // namespace demix
