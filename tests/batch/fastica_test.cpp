#include "demix/fastica.hpp"

#include <cmath>

#include "batch/batch_support.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/threads.hpp"
#include "support.hpp"

namespace demix {
namespace {

// The largest difference to B of the rows of A, in whatever order and with whatever signs.
double difference(const Matrix<double>& A, const Matrix<double>& B) {
  double worst = 0;
  for (Index i = 0; i < A.rows(); ++i) {
    double best = 1e300;
    for (Index j = 0; j < B.rows(); ++j) {
      best = std::min({best, (A.row(i) - B.row(j)).norm(), (A.row(i) + B.row(j)).norm()});
    }
    worst = std::max(worst, best / A.row(i).norm());
  }
  return worst;
}

TEST(FastIca, SeparatesBetterThanFobi) {
  for (const char* contrast : {"logcosh", "exp", "cube"}) {
    const Mixture m = mixture(four, 20000, 1);
    FastIcaOptions options;
    options.contrast = contrast_named(contrast);
    const Model model = fastica(m.mixtures, options);
    EXPECT_LT(mse(m.sources, model.apply(m.mixtures)), 2e-3) << contrast;
    EXPECT_LT(amari_index(model.unmixing * m.mixing), 0.5 * amari_index(fobi(m.mixtures).unmixing * m.mixing))
        << contrast;
    EXPECT_TRUE(model.warnings.empty()) << contrast;
  }
}

// Where FOBI has nothing to go by.
TEST(FastIca, SeparatesSourcesOfOneKind) {
  for (const Source kind : {Source::laplace, Source::uniform}) {
    const Mixture m = mixture(std::vector<Source>(6, kind), 50000, 2);
    EXPECT_GT(mse(m.sources, fobi(m.mixtures).apply(m.mixtures)), 0.05);
    EXPECT_LT(mse(m.sources, fastica(m.mixtures).apply(m.mixtures)), 2e-3);
  }
}

TEST(FastIca, SkewFindsSkewedSources) {
  Random random(3);
  Matrix<double> S(3, 40000);  // -log of a uniform number: kurtosis 9, skewness 2
  for (double& v : S.reshaped()) v = -std::log(1 - random.uniform());
  const Matrix<double> A = normal_mixing(3, random);
  FastIcaOptions options;
  options.contrast = Contrast::skew;
  const Matrix<double> X = A * S;
  EXPECT_LT(mse(standardized(S), fastica(X, options).apply(X)), 2e-3);
}

TEST(FastIca, DoesNotSeeTheMixing) {
  const Mixture m = mixture(four, 20000, 4);
  Random random(5);
  const Matrix<double> B = normal_mixing(4, random);
  const Matrix<double> other = (1e3 * B * m.mixtures).array() + 7;
  const Model one = fastica(m.mixtures);
  const Model two = fastica(other);
  EXPECT_LT(difference(one.unmixing, two.unmixing * (1e3 * B)), 1e-6);
}

// Of much data steps are computed in float, where that is far below the tolerance (4e-4 rad).
TEST(FastIca, OfMuchDataHardlySeesTheMixing) {
  const Mixture m = mixture(four, 100000, 4);
  Random random(5);
  const Matrix<double> B = normal_mixing(4, random);
  const Matrix<double> other = B * m.mixtures;
  EXPECT_LT(difference(fastica(m.mixtures).unmixing, fastica(other).unmixing * B), 1e-5);
}

TEST(FastIca, IsAFixedPointOfItsStep) {
  const Mixture m = mixture(four, 20000, 6);
  const Model model = fastica(m.mixtures);
  const Matrix<double> Y = model.apply(m.mixtures);
  // A step from there, in these coordinates: A = E[g(y) y^T] - diag(E[g'(y)]). It only changes signs, so what
  // is left of A without them is symmetric.
  const Matrix<double> G = Y.array().tanh();
  const auto n = static_cast<double>(Y.cols());
  Matrix<double> A = G * Y.transpose() / n;
  A.diagonal().array() -= 1 - G.rowwise().squaredNorm().array() / n;
  for (Index i = 0; i < 4; ++i) A.col(i) *= A(i, i) < 0 ? -1 : 1;
  EXPECT_LT((A - A.transpose()).cwiseAbs().maxCoeff(), 2e-4);
}

TEST(FastIca, SaysThatGaussiansCannotBeToldApart) {
  Mixture m = mixture({Source::laplace, Source::uniform, Source::laplace, Source::laplace}, 30000, 7);
  Random random(8);
  m.sources.bottomRows(2) = random.normal(2, 30000);
  const Matrix<double> X = m.mixing * m.sources;
  const Model model = fastica(X);
  EXPECT_EQ(count(model, Warning::Kind::gaussian), 1);
  // The others are found all the same.
  const Matrix<double> P = (model.unmixing * m.mixing).cwiseAbs();
  for (Index source = 0; source < 2; ++source) EXPECT_GT(P.col(source).maxCoeff(), 0.99);
}

TEST(FastIca, OneAfterTheOtherFindsTheSame) {
  const Mixture m = mixture(four, 30000, 9);
  FastIcaOptions options;
  const Model all = fastica(m.mixtures, options);
  options.deflation = true;
  const Model one = fastica(m.mixtures, options);
  EXPECT_TRUE(one.convergence.converged);
  EXPECT_EQ(one.convergence.objective.size(), 3U);
  EXPECT_LT(mse(m.sources, one.apply(m.mixtures)), 2e-3);
  EXPECT_LT(difference(one.unmixing, all.unmixing), 0.05);
}

// 100,000 frames are learned from in three stages, of which only the last sees all.
TEST(FastIca, PartsComeFirstButAllFramesHaveTheLastWord) {
  const Mixture m = mixture(four, 100000, 10);
  const Model staged = fastica(m.mixtures);
  EXPECT_TRUE(staged.convergence.converged);
  EXPECT_LE(staged.convergence.iterations, 4);
  const MatrixRecording<double> recording(m.mixtures);
  const WhiteRecording white = whiten(recording);
  const Rotation start = rotation_near(white, staged.unmixing);
  const Rotation further = fastica(white, {.tolerance = 1e-12}, start);
  EXPECT_LT(difference(staged.unmixing, describe(white, further).unmixing), 1e-3);
}

TEST(FastIca, FloatsAndThreadsMakeNoDifference) {
  const Mixture m = mixture({Source::laplace, Source::laplace, Source::uniform, Source::uniform}, 60000, 11);
  const Matrix<float> F = m.mixtures.cast<float>();
  const Model many = fastica(m.mixtures);
  EXPECT_LT(difference(fastica(F).unmixing, many.unmixing), 1e-4);
  limit_threads(1);
  const Model one = fastica(m.mixtures);
  limit_threads(0);
  EXPECT_EQ(one.unmixing, many.unmixing);
}

TEST(FastIca, NotConvergingIsAWarningNotAnException) {
  const Mixture m = mixture(std::vector<Source>(6, Source::laplace), 5000, 12);
  FastIcaOptions options;
  options.max_iterations = 1;
  const Model model = fastica(m.mixtures, options);
  EXPECT_FALSE(model.convergence.converged);
  EXPECT_EQ(model.convergence.iterations, 1);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_EQ(model.warnings.back().kind, Warning::Kind::not_converged);
}

// Few values, all alike, or none that differ in shape: it must end, with numbers.
TEST(FastIca, DegenerateDataEndsWithNumbers) {
  Matrix<double> two(2, 4);
  two << 1, -1, 1, -1, 1, 1, -1, -1;
  Random random(13);
  for (const Matrix<double>& X :
       {two, Matrix<double>(random.normal(3, 5)), Matrix<double>(random.normal(4, 5000))}) {
    for (const bool deflation : {false, true}) {
      FastIcaOptions options;
      options.deflation = deflation;
      EXPECT_TRUE(fastica(X, options).unmixing.allFinite());
    }
  }
}

TEST(FastIca, MisuseIsNamed) {
  EXPECT_THROW(contrast_named("tanh"), std::invalid_argument);
  FastIcaOptions options;
  options.tolerance = 0;
  EXPECT_THROW(fastica(Matrix<double>::Random(2, 50), options), std::invalid_argument);
  EXPECT_THROW(fastica(Matrix<double>::Random(5, 4)), std::invalid_argument);
}

}  // namespace
}  // namespace demix
