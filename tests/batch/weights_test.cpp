#include <cmath>
#include <limits>

#include "batch/batch_support.hpp"
#include "demix/crosstalk.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/picard.hpp"
#include "support.hpp"

/// Frames that count more than others: everything said of a model follows their weights.
namespace demix {
namespace {

// Weights far from equal, some 0; what is not counted may be anything.
struct Weighted {
  Matrix<double> X;
  Vector<double> w;
};
Weighted weighted_mixture(Index frames) {
  Weighted out{mixture(four, frames, 21).mixtures, Vector<double>(frames)};
  Random random(22);
  for (double& v : out.w) v = random.below(4) == 0 ? 0 : 5 * std::pow(random.uniform(), 3);
  for (Index t = 0; t < frames; ++t) {
    if (out.w(t) == 0) out.X.col(t).setConstant(1e6);
  }
  return out;
}

double effective(const Vector<double>& w) { return w.sum() * w.sum() / w.squaredNorm(); }

void expect_weighted(const Model& model, const Weighted& data) {
  const double total = data.w.sum();
  const Vector<double> mean = data.X * data.w / total;
  EXPECT_TRUE(model.mean.isApprox(mean, 1e-10)) << model.method;
  const Matrix<double> Y = model.unmixing * (data.X.colwise() - mean);
  EXPECT_TRUE((Y * data.w.asDiagonal() * Y.transpose() / total).isIdentity(1e-6)) << model.method;
  const Eigen::ArrayXXd square = Y.array().square();
  const Eigen::ArrayXd second = (square.matrix() * data.w).array() / total;
  const Eigen::ArrayXd fourth = (square.square().matrix() * data.w).array() / total;
  EXPECT_TRUE(model.kurtosis.array().isApprox(fourth / second.square(), 1e-6)) << model.method;
  EXPECT_EQ(model.samples, std::llround(effective(data.w))) << model.method;
}

TEST(Weights, MeanKurtosesAndSamplesFollowThem) {
  const Weighted data = weighted_mixture(6000);
  const MatrixRecording<double> all(data.X);
  const WeightedRecording recording(all, data.w);
  expect_weighted(fobi(recording), data);
  expect_weighted(fastica(recording), data);
  expect_weighted(picard(recording), data);
  expect_weighted(jade(recording), data);
}

TEST(Weights, OfRecordingsLongEnoughToLearnFromAPartFirstToo) {
  const Weighted data = weighted_mixture(40000);
  const MatrixRecording<double> all(data.X);
  const WeightedRecording recording(all, data.w);
  expect_weighted(fastica(recording), data);
  expect_weighted(picard(recording), data);
}

// However they are scaled.
TEST(Weights, OnlyTheirRatiosMatter) {
  const Weighted data = weighted_mixture(3000);
  const MatrixRecording<double> all(data.X);
  const Model one = fobi(WeightedRecording(all, data.w));
  const Model two = fobi(WeightedRecording(all, 1e-3 * data.w));
  EXPECT_TRUE(one.unmixing.isApprox(two.unmixing, 1e-9));
  EXPECT_TRUE(one.kurtosis.isApprox(two.kurtosis, 1e-9));
  EXPECT_EQ(one.samples, two.samples);
}

TEST(Weights, EqualOnesAreAsIfThereWereNone) {
  const Matrix<double> X = mixture(four, 3000, 23).mixtures;
  const MatrixRecording<double> all(X);
  const Model one = fobi(WeightedRecording(all, Vector<double>::Constant(3000, 7)));
  const Model two = fobi(X);
  EXPECT_TRUE(one.unmixing.isApprox(two.unmixing, 1e-9));
  EXPECT_TRUE(one.kurtosis.isApprox(two.kurtosis, 1e-9));
  EXPECT_EQ(one.samples, 3000);
}

// Its definition by batch means, with weights: 64 stretches, the variance of the mean over them.
TEST(Weights, TheCrosstalkToExpectFollowsThem) {
  const Weighted data = weighted_mixture(5000);
  const MatrixRecording<double> all(data.X);
  const WeightedRecording recording(all, data.w);
  const Model model = fobi(recording);
  ASSERT_TRUE(model.diagnosis.crosstalk);
  const Matrix<double> Y = model.unmixing * (data.X.colwise() - model.mean);
  const Vector<double> length = Y.colwise().squaredNorm().transpose();
  const double total = data.w.sum();
  const Vector<double> D = Y.cwiseAbs2() * length.cwiseProduct(data.w) / total;
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      if (i == j) continue;
      Vector<double> q = Vector<double>::Zero(64);
      Vector<double> n = Vector<double>::Zero(64);
      for (Index t = 0; t < 5000; ++t) {
        q(t * 64 / 5000) += data.w(t) * Y(i, t) * Y(j, t) * (length(t) - D(i) - 2);
        n(t * 64 / 5000) += data.w(t);
      }
      const double variance = (q - n * (q.sum() / total)).squaredNorm() / (total * total) * 64 / 63;
      const double expected = std::sqrt(variance) / std::abs(D(i) - D(j));
      EXPECT_NEAR(model.diagnosis.crosstalk->pairs(i, j), std::min(1.0, expected), 1e-6 * expected) << i << j;
    }
  }
}

TEST(WhiteRecording, CountsFramesAndWhatTheyAreWorth) {
  const Weighted data = weighted_mixture(3000);
  const MatrixRecording<double> all(data.X);
  const Whitening plain = whiten(all).whitening();
  EXPECT_EQ(plain.samples, 3000);
  EXPECT_EQ(plain.frames, 3000);
  const WeightedRecording weighted(all, data.w);
  const Whitening white = whiten(weighted).whitening();
  EXPECT_EQ(white.samples, std::llround(effective(data.w)));
  EXPECT_EQ(white.frames, 3000);
}

TEST(WhiteRecording, RefusesWhatIsLostInRounding) {
  const Matrix<double> X = mixture(four, 3000, 23).mixtures;
  EXPECT_THROW(fobi(1e160 * X), std::invalid_argument);
  EXPECT_THROW(fastica(1e160 * X), std::invalid_argument);
  EXPECT_THROW(picard(1e160 * X), std::invalid_argument);
  EXPECT_THROW(jade(1e160 * X), std::invalid_argument);
  EXPECT_THROW(fobi(1e-160 * X), std::invalid_argument);
  // Sixteen channels of 2^24 and 2^24 + 4, where a float has steps of 2: nothing in them can be trusted.
  Random random(24);
  Matrix<float> steps(16, 2000);
  for (float& v : steps.reshaped()) v = 16777216.0F + 4.0F * static_cast<float>(random.below(2));
  EXPECT_THROW(fobi(steps), std::invalid_argument);
}

}  // namespace
}  // namespace demix
