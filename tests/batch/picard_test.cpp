#include "demix/picard.hpp"

#include <cmath>

#include "batch/batch_support.hpp"
#include "demix/fastica.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "support.hpp"

namespace demix {
namespace {

const std::vector<Source> both{Source::laplace, Source::laplace, Source::uniform, Source::uniform,
                               Source::square};

// E[k tanh(y) y^T], k as the outputs are peaked or flat
Matrix<double> tanh_product(const Matrix<double>& Y) {
  const auto n = static_cast<double>(Y.cols());
  const Matrix<double> G = Y.array().tanh();
  Matrix<double> C = G * Y.transpose() / n;
  for (Index i = 0; i < Y.rows(); ++i) {
    const double slope = 1 - G.row(i).squaredNorm() / n;
    if (slope * Y.row(i).squaredNorm() / n < C(i, i)) C.row(i) *= -1;
  }
  return C;
}

TEST(Picard, SeparatesPeakedAndFlatSourcesTogether) {
  for (const bool orthogonal : {true, false}) {
    const Mixture m = mixture(both, 40000, 1);
    PicardOptions options;
    options.orthogonal = orthogonal;
    const Model model = picard(m.mixtures, options);
    EXPECT_TRUE(model.convergence.converged);
    EXPECT_TRUE(model.warnings.empty());
    EXPECT_LT(amari_index(model.unmixing * m.mixing), 0.01) << orthogonal;
  }
}

TEST(Picard, OrthogonalEndsWhereItsGradientIsZero) {
  const Mixture m = mixture(both, 20000, 2);
  const Model model = picard(m.mixtures);
  const Matrix<double> Y = model.apply(m.mixtures);
  EXPECT_TRUE((Y * Y.transpose() / 20000).isApprox(Matrix<double>::Identity(5, 5), 1e-9));
  const Matrix<double> C = tanh_product(Y);
  EXPECT_LT((C - C.transpose()).cwiseAbs().maxCoeff() / 2, 1.1e-7);
}

// The gradient for what the outputs are, or, where they are within `noise` of Gaussian, for what suits best.
double least_gradient(const Matrix<double>& Y, double noise) {
  const auto n = static_cast<double>(Y.cols());
  const Matrix<double> G = Y.array().tanh();
  const Matrix<double> C = tanh_product(Y);
  std::vector<Index> either;
  for (Index i = 0; i < Y.rows(); ++i) {
    const double slope = 1 - G.row(i).squaredNorm() / n;
    if (std::abs(slope * Y.row(i).squaredNorm() / n - std::abs(C(i, i))) <= noise) either.push_back(i);
  }
  double least = 1;
  for (std::size_t choice = 0; choice < std::size_t{1} << either.size(); ++choice) {
    Matrix<double> K = C;
    for (std::size_t b = 0; b < either.size(); ++b) {
      if ((choice >> b & 1) == 1) K.row(either[b]) *= -1;
    }
    least = std::min(least, (K - K.transpose()).cwiseAbs().maxCoeff() / 2);
  }
  return least;
}

// Sources just flat enough to be told from Gaussian, first looked for in a part of the frames: some outputs
// turn from one kind into the other on the way down. They are judged again and again, so that the gradient is
// zero for what they are at last.
TEST(Picard, OutputsAreJudgedAnewAsTheyTurn) {
  constexpr Index d = 8;
  constexpr Index frames = 20000;
  int converged = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    Random random(seed);
    Matrix<double> S(d, frames);
    for (Index t = 0; t < frames; ++t) {
      for (Index i = 0; i < d; ++i) {
        const double u = random.normal();
        S(i, t) = std::copysign(std::pow(std::abs(u), 0.8 + 0.1 * static_cast<double>(i) / (d - 1)), u);
      }
    }
    const Matrix<double> X = conditioned_mixing(d, 3, random) * S;
    const Model model = picard(X);
    if (!model.convergence.converged) continue;
    ++converged;
    EXPECT_LT(least_gradient(model.apply(X), 3 / std::sqrt(static_cast<double>(frames))), 1.1e-7) << seed;
  }
  EXPECT_GE(converged, 35);
}

TEST(Picard, IsAsAccurateAsAskedInAsManySteps) {
  const Mixture m = mixture(both, 5000, 10);
  std::vector<Index> steps;
  for (const double tolerance : {1e-2, 1e-5, 1e-10}) {
    PicardOptions options;
    options.tolerance = tolerance;
    const Model model = picard(m.mixtures, options);
    EXPECT_TRUE(model.convergence.converged);
    const Matrix<double> C = tanh_product(model.apply(m.mixtures));
    EXPECT_LT((C - C.transpose()).cwiseAbs().maxCoeff() / 2, 1.01 * tolerance + 1e-12);
    steps.push_back(model.convergence.iterations);
  }
  EXPECT_TRUE(std::is_sorted(steps.begin(), steps.end()));
  EXPECT_GT(steps.back(), steps.front());
}

// There the outputs have the scale for which E[k tanh(y) y + y^2] = 1; the model has them at variance 1.
TEST(Picard, FreeEndsWhereItsGradientIsZero) {
  const Mixture m = mixture(both, 20000, 3);
  PicardOptions options;
  options.orthogonal = false;
  const Model model = picard(m.mixtures, options);
  Matrix<double> Y = model.apply(m.mixtures);
  for (Index i = 0; i < Y.rows(); ++i) {
    double low = 0.1;
    double high = 10;
    for (int k = 0; k < 60; ++k) {
      const double scale = (low + high) / 2;
      const Matrix<double> y = scale * Y.row(i);
      (tanh_product(y)(0, 0) + y.squaredNorm() / 20000 < 1 ? low : high) = scale;
    }
    Y.row(i) *= low;
  }
  const Matrix<double> G = tanh_product(Y) + Y * Y.transpose() / 20000 - Matrix<double>::Identity(5, 5);
  EXPECT_LT(G.cwiseAbs().maxCoeff(), 1e-6);
}

TEST(Picard, TheObjectiveFalls) {
  const Mixture m = mixture(both, 5000, 4);
  for (const bool orthogonal : {true, false}) {
    PicardOptions options;
    options.orthogonal = orthogonal;
    const Model model = picard(m.mixtures, options);
    const auto& trace = model.convergence.objective;
    ASSERT_EQ(std::ssize(trace), model.convergence.iterations + 1);
    for (std::size_t k = 1; k < trace.size(); ++k) EXPECT_LE(trace[k], trace[k - 1] + 1e-12);
  }
}

TEST(Picard, DoesNotSeeTheMixing) {
  const Mixture m = mixture(both, 20000, 5);
  Random random(6);
  const Matrix<double> B = normal_mixing(5, random);
  const Matrix<double> other = (1e3 * B * m.mixtures).array() + 7;
  const Model one = picard(m.mixtures);
  const Model two = picard(other);
  EXPECT_LT(amari_index(two.unmixing * (1e3 * B) * one.mixing), 1e-6);
}

TEST(Picard, AgreesWithFastIcaWhereBothAreGood) {
  const Mixture m = mixture(both, 50000, 7);
  EXPECT_LT(amari_index(picard(m.mixtures).unmixing * fastica(m.mixtures).mixing), 2e-3);
}

TEST(Picard, NotConvergingIsAWarningNotAnException) {
  const Mixture m = mixture(both, 3000, 8);
  PicardOptions options;
  options.max_iterations = 1;
  options.tolerance = 1e-15;
  const Model model = picard(m.mixtures, options);
  EXPECT_FALSE(model.convergence.converged);
  ASSERT_FALSE(model.warnings.empty());
  EXPECT_EQ(model.warnings.back().kind, Warning::Kind::not_converged);
}

// Noise has no direction: it may end anywhere, but it must end, with numbers.
TEST(Picard, GaussianNoiseEndsWithAWarning) {
  Random random(9);
  const Matrix<double> X = random.normal(4, 20000);
  for (const bool orthogonal : {true, false}) {
    PicardOptions options;
    options.orthogonal = orthogonal;
    const Model model = picard(X, options);
    EXPECT_TRUE(model.unmixing.allFinite());
    EXPECT_FALSE(model.warnings.empty());
  }
}

TEST(Picard, MisuseIsNamed) {
  PicardOptions options;
  options.memory = 0;
  EXPECT_THROW(picard(Matrix<double>::Random(2, 50), options), std::invalid_argument);
  const Matrix<double> X = Matrix<double>::Random(2, 50);
  const MatrixRecording<double> recording(X);
  const WhiteRecording white = whiten(recording);
  EXPECT_THROW(rotation_near(white, Matrix<double>::Identity(3, 3)), std::invalid_argument);
}

}  // namespace
}  // namespace demix
