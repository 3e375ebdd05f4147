#include "demix/natural_network.hpp"

#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/random.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

template <typename T>
Matrix<T> run(NaturalNetwork<T>& network, const Matrix<T>& X) {
  Matrix<T> Y(network.outputs(), X.cols());
  network.process(X, Y);
  return Y;
}

TYPED_TEST(Scalar, NaturalStepsSeparateWithoutTuning) {
  using T = TypeParam;
  for (int scenario = 1; scenario <= 4; ++scenario) {
    const Mixture m = make_scenario(scenario, 20000, static_cast<std::uint64_t>(scenario));
    NaturalNetwork<T> network(3);
    const Matrix<T> Y = run<T>(network, m.mixtures.cast<T>());
    EXPECT_TRUE(Y.allFinite());
    EXPECT_LT(mse_of_gain(network.unmixing() * m.mixing), 0.02);
    // the live outputs of the last quarter too
    EXPECT_LT(mse(m.sources.rightCols(5000), Y.rightCols(5000).template cast<double>()), 0.03);
  }
}

TEST(NaturalNetwork, TheMixingDoesNotMatter) {
  const Mixture m = make_scenario(4, 20000, 5);
  Random random(6);
  NaturalNetwork<double> plain(3);
  run<double>(plain, m.mixtures);
  const double error = mse_of_gain(plain.unmixing() * m.mixing);
  for (const double condition : {10.0, 1e3, 1e6}) {
    const Matrix<double> A = conditioned_mixing(3, condition, random);
    NaturalNetwork<double> network(3);
    run<double>(network, (A * m.sources).array() + 1e3);
    EXPECT_EQ(network.rank(), 3);
    EXPECT_LT(mse_of_gain(network.unmixing() * A), 10 * error + 1e-3);
  }
}

TEST(NaturalNetwork, WeightsSettleAtTheFixedPointInItsOrder) {
  const Mixture m = make_scenario(4, 200000, 7);
  NaturalNetwork<double> network(3);
  run<double>(network, m.mixtures);
  const Matrix<double> B = network.unmixing();
  const Matrix<double> G = (B * m.mixing).cwiseAbs();
  EXPECT_GT(G(0, 2), 0.95);  // smallest lambda: largest kurtosis, the Laplace source
  EXPECT_GT(G(1, 1), 0.95);
  EXPECT_GT(G(2, 0), 0.95);
  EXPECT_GT(Cholesky(network.lateral()).L().diagonal().minCoeff(), 0);
}

// Nothing a stream can bring makes it blow up.
TEST(NaturalNetwork, NeverDiverges) {
  Random random(8);
  for (int k = 0; k < 20; ++k) {
    NaturalNetwork<double> network(4);
    Matrix<double> X = conditioned_mixing(4, 1e6, random) * random.normal(4, 3000);
    for (Index t = 0; t < 3000; ++t) {
      if (k % 4 == 1) X.col(t) *= std::exp(3 * random.normal());           // wild bursts
      if (k % 4 == 2) X.col(t) *= t < 1500 ? 1e-6 : 1e6;                   // a jump of twelve decades
      if (k % 4 == 3 && random.uniform() < 0.01) X.col(t).array() = 1e12;  // saturation
    }
    const Matrix<double> Y = run<double>(network, X);
    EXPECT_TRUE(Y.allFinite());
    EXPECT_TRUE(network.unmixing().allFinite());
    EXPECT_TRUE(Cholesky(network.lateral()).positive_definite());
  }
}

TYPED_TEST(Scalar, NaturalStepsRefuseBadFramesAndForgetThem) {
  using T = TypeParam;
  const Matrix<T> X = make_scenario(4, 2000, 9).mixtures.cast<T>();
  NaturalNetwork<T> a(3);
  NaturalNetwork<T> b(3);
  Vector<T> y(3);
  for (Index t = 0; t < X.cols(); ++t) {
    EXPECT_TRUE(a.step(X.col(t), y));
    EXPECT_TRUE(b.step(X.col(t), y));
    Vector<T> bad = X.col(t);
    bad(t % 3) = t % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    EXPECT_FALSE(b.step(bad, y));
    EXPECT_EQ(y.norm(), 0);
  }
  EXPECT_EQ(b.refused(), 2000);
  EXPECT_EQ(a.unmixing(), b.unmixing());
}

TEST(NaturalNetwork, BlocksDoNotMatterAndTheSeedDecides) {
  const Matrix<double> X = make_scenario(2, 3000, 10).mixtures;
  NaturalNetwork<double> a(3);
  NaturalNetwork<double> b(3);
  Matrix<double> parts(3, 3000);
  const Matrix<double> whole = run<double>(a, X);
  for (Index t = 0; t < 3000; t += 61) {
    const Index n = std::min<Index>(61, 3000 - t);
    b.process(X.middleCols(t, n), parts.middleCols(t, n));
  }
  EXPECT_EQ(whole, parts);
  EXPECT_EQ(whole.leftCols(a.warm_up()).norm(), 0);
  NaturalNetworkOptions options;
  options.seed = 1;
  NaturalNetwork<double> c(3, options);
  EXPECT_NE(run<double>(c, X), whole);
}

TEST(NaturalNetwork, DependentAndLateChannelsAreHandled) {
  const Mixture m = make_scenario(4, 30000, 11);
  Matrix<double> X(5, 30000);
  X.topRows(3) = m.mixtures;
  X.row(3) = m.mixtures.row(0) - m.mixtures.row(1);
  X.row(4).setConstant(2);
  NaturalNetwork<double> network(5);
  const Matrix<double> Y = run<double>(network, X);
  EXPECT_EQ(network.rank(), 3);
  EXPECT_EQ(Y.bottomRows(2).norm(), 0);
  EXPECT_LT(mse_of_gain(network.unmixing().leftCols(3) * m.mixing +
                        network.unmixing().col(3) * (m.mixing.row(0) - m.mixing.row(1))),
            0.02);
}

TEST(NaturalNetwork, AChannelThatComesAliveIsFound) {
  const Mixture m = make_scenario(4, 60000, 12);
  Matrix<double> X = m.mixtures;
  X.row(2).leftCols(500).setZero();
  NaturalNetwork<double> network(3);
  run<double>(network, X);
  EXPECT_EQ(network.rank(), 3);
  // the first 500 frames obey another mixing, so the optimum is a little off
  EXPECT_LT(amari_index(network.unmixing() * m.mixing), 0.15);
}

TEST(NaturalNetwork, FewerOutputsFollowThePrincipalSubspace) {
  Random random(13);
  Matrix<double> S = make_sources({Source::square, Source::laplace, Source::sine, Source::uniform}, 40000,
                                  Timing::iid, random);
  S.row(2).leftCols(200) *= 50;  // another subspace is strongest at first
  const Vector<double> power = (Vector<double>(4) << 5, 4, 0.1, 0.1).finished();
  const Matrix<double> A = random.orthogonal(4) * power.asDiagonal();
  NaturalNetworkOptions options;
  options.components = 2;
  options.lambda2 = (Vector<double>(2) << 1, 7).finished();
  NaturalNetwork<double> network(4, options);
  run<double>(network, A * S);
  network.refresh();
  EXPECT_EQ(network.rank(), 2);
  const Matrix<double> G = (network.unmixing() * A).cwiseAbs();
  EXPECT_GT(G(0, 1), 0.95);  // Laplace
  EXPECT_GT(G(1, 0), 0.95);  // square
}

TEST(NaturalNetwork, OneHugeFrameAfterLongRestLeavesItFinite) {
  const Mixture m = make_scenario(4, 20000, 14);
  for (const double size : {1e6, 1e9, 1e12, 1e100}) {
    Matrix<double> X = m.mixtures;
    X.col(10000).setConstant(size);
    NaturalNetwork<double> network(3);
    const Matrix<double> Y = run<double>(network, X);
    network.refresh();
    EXPECT_TRUE(Y.allFinite()) << size;
    EXPECT_TRUE(network.unmixing().allFinite()) << size;
  }
}

// 64 directions of one contrast, which varies as that of patches of photographs does: total activity is often
// far above and mostly far below 64. M has to hold the outputs' power all the same.
TEST(NaturalNetwork, ManyOutputsOfHeavyTailsStayDifferent) {
  constexpr Index d = 64;
  Random random(15);
  Matrix<double> X = random.normal(d, 12000);
  for (Index t = 0; t < X.cols(); ++t) {
    X.col(t) *= std::exp(random.normal());
    X(0, t) *= 2 * random.uniform();
  }
  NaturalNetwork<double> network(d);
  run<double>(network, X);
  network.refresh();
  const Matrix<double> now = inverse(network.lateral()) * network.feedforward();
  EXPECT_LT(now.squaredNorm(), 100 * d);
  const Vector<double> s2 = singular_values(network.unmixing() * inverse(network.whitener())).cwiseAbs2();
  EXPECT_GT(std::pow(s2.sum(), 2) / s2.squaredNorm(), 0.95 * d) << "outputs have become the same";
}

TEST(NaturalNetwork, MisuseIsNamed) {
  EXPECT_THROW(NaturalNetwork<double>(0), std::invalid_argument);
  NaturalNetworkOptions options;
  options.components = 4;
  EXPECT_THROW(NaturalNetwork<double>(3, options), std::invalid_argument);
  NaturalNetwork<double> network(3);
  Vector<double> y(2);
  EXPECT_THROW(network.step(Vector<double>::Ones(3), y), std::invalid_argument);
  EXPECT_EQ(network.unmixing().rows(), 0);
}

// Uniform, and 0 or +-sqrt 1.8: both of kurtosis 1.8, but not of the same sixth moment.
TEST(NaturalNetwork, AnotherModulatorTellsSourcesOfEqualKurtosisApart) {
  Random random(2);
  Matrix<double> S(2, 60000);
  for (Index t = 0; t < S.cols(); ++t) {
    S(0, t) = random.uniform(-std::sqrt(3.), std::sqrt(3.));
    const double u = random.uniform();
    S(1, t) = u < 1 / 3.6 ? std::sqrt(1.8) : u < 2 / 3.6 ? -std::sqrt(1.8) : 0;
  }
  const Mixture m = mix(S, normal_mixing(2, random));
  const auto error = [&](Weight weight) {
    NaturalNetworkOptions options;
    options.weight = weight;
    NaturalNetwork<double> network(2, options);
    Matrix<double> Y(2, S.cols());
    network.process(Frames<double>(m.mixtures), Y);
    return mse_of_gain(network.unmixing() * m.mixing);
  };
  EXPECT_GT(error(Weight::square), 2e-3);
  EXPECT_LT(error(Weight::reciprocal), 1e-3);
  EXPECT_LT(error(Weight::fourth), 1e-3);
  EXPECT_LT(error(Weight::log), 2e-3);
}

}  // namespace
}  // namespace demix
