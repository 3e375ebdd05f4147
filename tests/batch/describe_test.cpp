// What describe() tells: each thing where it is, and not where it is not.
#include <cmath>

#include "batch/batch_support.hpp"
#include "batch/coherence.hpp"
#include "batch/entropy.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/metrics.hpp"
#include "demix/random.hpp"
#include "demix/separate.hpp"
#include "support.hpp"

namespace demix {
namespace {

using Kind = Warning::Kind;

// Coloured by y_t = a y_{t-1} + x_t.
void colour(Matrix<double>& X, double a) {
  for (Index t = 1; t < X.cols(); ++t) X.col(t) += a * X.col(t - 1);
}

// Delta_ij by its definition, frame by frame.
TEST(Describe, TheCrosstalkOfAContrastIsItsDefinition) {
  const Mixture m = mixture({Source::laplace, Source::uniform, Source::sine}, 4000, 3);
  const Model model = fastica(m.mixtures);
  ASSERT_TRUE(model.diagnosis.crosstalk);
  const Matrix<double> Y = model.apply(m.mixtures);
  const Eigen::ArrayXXd g = Y.array().tanh();
  const Eigen::ArrayXd slope = (1 - g.square()).rowwise().mean();
  const Eigen::ArrayXd gy = (g * Y.array()).rowwise().mean();
  const Eigen::ArrayXd k = (slope - gy).sign();
  for (Index i = 0; i < 3; ++i) {
    for (Index j = 0; j < 3; ++j) {
      if (i == j) continue;
      Vector<double> q = Vector<double>::Zero(64);
      Vector<double> n = Vector<double>::Zero(64);
      for (Index t = 0; t < 4000; ++t) {
        q(t * 64 / 4000) += k(i) * g(i, t) * Y(j, t) - k(j) * g(j, t) * Y(i, t) +
                            (k(j) * slope(j) - k(i) * gy(i)) * Y(i, t) * Y(j, t);
        n(t * 64 / 4000) += 1;
      }
      const double variance = (q - n * q.mean() * 64 / 4000).squaredNorm() / (4000. * 4000.) * 64 / 63;
      const double curvature = k(i) * (slope(i) - gy(i)) + k(j) * (slope(j) - gy(j));
      const double expected = std::sqrt(variance) / curvature;
      EXPECT_NEAR(model.diagnosis.crosstalk->pairs(i, j), expected, 1e-3 * expected) << i << j;
    }
  }
}

// Of frames that depend on each other too, and for each kind of equation.
TEST(Describe, TheCrosstalkToExpectIsWhatThereIs) {
  for (const double a : {0.0, 0.8}) {
    std::vector<double> by_fobi;
    std::vector<double> by_fastica;
    std::vector<double> by_jade;
    Index below = 0;
    Index all = 0;
    for (std::uint64_t seed = 0; seed < 30; ++seed) {
      Random random(seed);
      Matrix<double> S = random.normal(3, 20000).array().cube();  // tails enough to be left after colouring
      S.row(1) = random.normal(1, 20000);
      S.row(2) = Matrix<double>::NullaryExpr(1, 20000, [&] { return random.uniform(-1, 1); });
      colour(S, a);
      const Matrix<double> A = normal_mixing(3, random);
      const Mixture m = mix(standardized(S), A);
      const auto compare = [&](const Model& model, std::vector<double>& into) {
        ASSERT_TRUE(model.diagnosis.crosstalk) << model.diagnosis.no_crosstalk;
        const double truth = mse_of_gain(model.unmixing * m.mixing);
        into.push_back(std::log(truth / model.diagnosis.crosstalk->expected));
        below += truth < model.diagnosis.crosstalk->bound;
        ++all;
      };
      compare(fobi(m.mixtures), by_fobi);
      compare(fastica(m.mixtures), by_fastica);
      compare(jade(m.mixtures), by_jade);
    }
    EXPECT_GE(static_cast<double>(below), 0.85 * static_cast<double>(all)) << a;
    for (const auto* ratios : {&by_fobi, &by_fastica, &by_jade}) {
      EXPECT_LT(std::abs(testing::median(*ratios)), std::log(2)) << a;  // 3 dB
    }
  }
}

TEST(Describe, FramesThatDependTooLongSayThatNothingCanBeTold) {
  Random random(4);
  Matrix<double> S = random.normal(2, 20000).array().cube();
  colour(S, 0.9999);
  const Model model = fastica(random.normal(2, 2) * S);
  EXPECT_FALSE(model.diagnosis.crosstalk);
  EXPECT_FALSE(model.diagnosis.no_crosstalk.empty());
}

TEST(Describe, CoherenceIsThatOfItsDefinition) {
  Random random(5);
  const Index N = 512;
  const Index segments = 400;
  Matrix<float> Y = random.normal(3, N * segments).cast<float>();
  // Row 1 is row 0, three frames later, and as much noise: a coherence of one half at every frequency.
  for (Index s = 0; s < segments; ++s) {
    for (Index t = N - 1; t >= 3; --t) Y(1, s * N + t) = Y(0, s * N + t - 3) + Y(1, s * N + t);
  }
  const Coherence found = mean_coherence(Y, N, false, 0.17);
  const Matrix<double>& C = found.pairs;
  EXPECT_NEAR(C(0, 1), 0.5, 0.05);
  EXPECT_NEAR(C(0, 1), C(1, 0), 1e-6);
  EXPECT_LT(std::max(C(0, 2), C(1, 2)), 0.01);
  EXPECT_LT(found.by_chance, 0.01);
}

// Waves of steady frequencies are coherent whatever their source; those of the rows shifted are as much.
TEST(Describe, CoherenceByChanceIsThatOfShiftedRows) {
  Random random(15);
  const Index N = 512;
  Matrix<float> Y(2, N * 40);
  for (Index t = 0; t < Y.cols(); ++t) {
    Y(0, t) = static_cast<float>(std::sin(0.3 * static_cast<double>(t)) + 0.1 * random.normal());
    Y(1, t) = static_cast<float>(std::sin(0.3 * static_cast<double>(t) + 1) + 0.1 * random.normal());
  }
  const Coherence found = mean_coherence(Y, N, false, 0.17);
  EXPECT_GT(found.pairs(0, 1), 0.9);
  EXPECT_GT(found.by_chance, 0.9 * found.pairs(0, 1));
}

TEST(Describe, DelaysAreToldAndMixturesAreNot) {
  Random random(6);
  Matrix<double> S = random.normal(2, 40000).array().cube();
  colour(S, 0.8);
  const Matrix<double> A = random.normal(2, 2);
  EXPECT_EQ(count(fastica(A * S), Kind::convolved), 0);
  Matrix<double> X = S;
  X.row(0).tail(39990) += 0.8 * S.row(1).head(39990);
  X.row(1).tail(39993) += 0.7 * S.row(0).head(39993);
  EXPECT_EQ(count(fastica(X), Kind::convolved), 1);
}

// A slow wave has power where others have none: there a trace of it in them, and of them in it, is all there
// is.
TEST(Describe, ASlowWaveIsNoEcho) {
  Random random(16);
  Matrix<double> S = random.normal(3, 32000).array().cube();
  for (Index t = 31999; t > 0; --t) S.col(t) -= S.col(t - 1);
  for (Index t = 0; t < 32000; ++t) S(2, t) = std::sin(9 * static_cast<double>(t) / 32000);
  EXPECT_EQ(count(separate(random.normal(3, 3) * S).model, Kind::convolved), 0);
}

TEST(Describe, ComponentsThatAreLoudTogetherAreTold) {
  Random random(7);
  const Matrix<double> S = random.normal(2, 20000);
  EXPECT_EQ(count(fastica(S.array().cube().matrix()), Kind::dependent), 0);
  Matrix<double> together = S;
  for (Index t = 0; t < 20000; ++t) together.col(t) *= t / 500 % 4 == 0 ? 5 : 0.2;
  EXPECT_EQ(count(fastica(together), Kind::dependent), 1);
}

// Of single frames, whose signs and sizes differ, it shows little.
TEST(Describe, ALoudnessThatChangesSlowlyIsTold) {
  Random random(17);
  const auto with_loudness = [&](double speed, double other) {
    Matrix<double> S = random.normal(2, 20000);
    for (Index t = 0; t < 20000; ++t) {
      S(0, t) *= 0.1 + std::abs(std::sin(speed * static_cast<double>(t)));
      S(1, t) *= 0.1 + std::abs(std::sin(other * static_cast<double>(t)));
    }
    return fastica(S);
  };
  const Model common = with_loudness(0.003, 0.003);
  ASSERT_EQ(count(common, Kind::dependent), 1);
  EXPECT_GT(common.diagnosis.magnitudes(0, 1), 0.7);
  EXPECT_EQ(count(with_loudness(0.003, 0.0041), Kind::dependent), 0);
}

TEST(Describe, DriftIsTold) {
  Random random(8);
  Matrix<double> S = random.normal(3, 20000).array().cube();
  EXPECT_EQ(count(fastica(S), Kind::drift), 0);
  for (Index t = 0; t < 20000; ++t)
    S(2, t) = std::sin(static_cast<double>(t) / 20000 * 8) + 0.1 * S(2, t) / 4;
  const Model model = fastica(random.normal(3, 3) * S);
  ASSERT_EQ(count(model, Kind::drift), 1);
}

TEST(Describe, ClippedChannelsAreTold) {
  Random random(9);
  Matrix<double> S = random.normal(2, 40000).array().cube();
  colour(S, 0.9);
  Matrix<double> X = random.normal(2, 2) * S;
  EXPECT_EQ(count(fastica(X), Kind::clipped), 0);
  const double top = 0.1 * X.row(1).maxCoeff();
  X.row(1) = X.row(1).cwiseMin(top);
  const Model model = fastica(X);
  ASSERT_EQ(count(model, Kind::clipped), 1);
  for (const Warning& w : model.warnings) {
    if (w.kind != Kind::clipped) continue;
    EXPECT_TRUE(w.text.starts_with("channel 2 is clipped")) << w.text;
  }
}

TEST(Describe, GaussianComponentsAreTold) {
  Random random(14);
  Matrix<double> S = random.normal(4, 20000);
  S.row(0) = S.row(0).array().cube();
  for (const Model& model : {fastica(S), fobi(S), jade(S)}) {
    ASSERT_EQ(count(model, Kind::gaussian), 1) << model.method;
    EXPECT_EQ(model.warnings[0].components, (std::vector<Index>{1, 2, 3})) << model.method;
  }
  S.row(1) = S.row(1).array().cube();
  S.row(2) = S.row(2).array().tanh();
  for (const Model& model : {fastica(S), fobi(S), jade(S)}) {
    EXPECT_EQ(count(model, Kind::gaussian), 0) << model.method;  // there is only one
  }
}

// Stretches of periodic signals differ, but make up for each other, and their segments keep pace with each
// other.
TEST(Describe, PeriodicSignalsAreNotWarnedOf) {
  Random random(20);
  for (const Index frames : {10000, 100000}) {
    const Matrix<double> A = normal_mixing(4, random);
    const Mixture m = mix(make_sources(four, frames, Timing::waveform, random), A);
    for (const Model& model : {fobi(m.mixtures), fastica(m.mixtures), jade(m.mixtures)}) {
      EXPECT_TRUE(model.warnings.empty()) << model.method << " " << frames << ": " << model.warnings[0].text;
    }
  }
}

TEST(Describe, NoPromiseIsMadeOfEchoes) {
  Random random(16);
  Matrix<double> X = random.normal(2, 40000).array().cube();
  X.row(0).tail(39990) += 0.8 * X.row(1).head(39990).eval();
  const Model model = fastica(X);
  EXPECT_EQ(count(model, Kind::convolved), 1);
  EXPECT_FALSE(model.diagnosis.crosstalk);
}

TEST(Describe, OneChannelIsNothingToSeparate) {
  const Matrix<double> X = Random(1).normal(1, 1000);
  EXPECT_THROW(fobi(X), std::invalid_argument);
  EXPECT_THROW(separate(X), std::invalid_argument);
}

TEST(Entropy, IsThatOfKnownDensities) {
  Random random(10);
  const Index n = 200000;
  Matrix<float> Y = random.normal(1, n).cast<float>();
  EXPECT_NEAR(entropies(Y, 1)(0), 0.5 * std::log(2 * M_PI * M_E), 0.01);
  for (Index t = 0; t < n; ++t) Y(0, t) = static_cast<float>(random.laplace());
  const double b = std::sqrt(static_cast<double>(Y.array().square().mean()) / 2);
  EXPECT_NEAR(entropies(Y, 4).mean(), 1 + std::log(2 * b), 0.02);
  const Matrix<float> two = random.normal(2, n).cast<float>();
  EXPECT_NEAR(entropies(two, 8).rowwise().sum().mean(), std::log(2 * M_PI * M_E), 0.02);
}

// What leaves the least dependence: FOBI where kurtosis tells most, JADE or FastICA elsewhere.
TEST(Separate, IsNeverMuchWorseThanTheBest) {
  for (std::uint64_t seed = 0; seed < 10; ++seed) {
    const Mixture m = mixture(four, 20000, 200 + seed);
    const auto error = [&](const Model& model) { return mse_of_gain(model.unmixing * m.mixing); };
    const Separated found = separate(m.mixtures);
    EXPECT_FALSE(found.why.empty());
    EXPECT_LT(error(found.model), 2 * std::min(error(fobi(m.mixtures)), error(fastica(m.mixtures)))) << seed;
    EXPECT_EQ(count(found.model, Kind::glitches), 0) << seed;
  }
}

TEST(Separate, GlitchesAreLeftOutAndNamed) {
  const Mixture m = mixture(four, 8000, 12);
  const double clean = amari_index(separate(m.mixtures).model.unmixing * m.mixing);
  Matrix<double> X = m.mixtures;
  X(1, 1234) += 500;
  X(2, 5678) -= 70;
  const Model model = separate(X).model;
  EXPECT_LT(amari_index(model.unmixing * m.mixing), 1.5 * clean);
  ASSERT_EQ(count(model, Kind::glitches), 1);
  EXPECT_EQ(model.warnings.back().frames, (std::vector<std::int64_t>{1234, 5678}));
  EXPECT_EQ(model.samples, 7998);
}

// Heavy tails in few frames: a gap below the largest value is no glitch.
TEST(Separate, FewFramesOfHeavyTailsAreNoGlitches) {
  Index told = 0;
  for (std::uint64_t seed = 0; seed < 40; ++seed) {
    const Mixture m = mixture({Source::laplace, Source::laplace, Source::laplace}, 1000, 300 + seed);
    told += count(separate(m.mixtures).model, Kind::glitches);
  }
  EXPECT_LE(told, 2);
}

}  // namespace
}  // namespace demix
