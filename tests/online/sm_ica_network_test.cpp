#include "demix/sm_ica_network.hpp"

#include <cmath>

#include "demix/metrics.hpp"
#include "demix/plasticity.hpp"
#include "demix/random.hpp"
#include "demix/synthetic.hpp"
#include "demix/weight.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);
using Dynamics = SmIcaNetworkOptions::Dynamics;

SmIcaNetworkOptions lively() {
  SmIcaNetworkOptions o;
  o.eta = 1e-3;
  o.tau = 0.5;
  o.seed = 3;
  return o;
}

// Every synapse alone, from what is at hand there.
TYPED_TEST(Scalar, TheSynapsesTogetherAreTheMatrices) {
  using T = TypeParam;
  for (const Index d : {1, 3, 4, 6, 17, 40}) {
    const SmIcaNetworkOptions options = lively();
    const Vector<double> lambda2 = default_lambda2(d);
    SmIcaNetwork<T> network(d, d, options);
    Random random(static_cast<std::uint64_t>(d));
    const double scale =
        1 / std::sqrt(static_cast<double>(d));  // keeps ||c|| of the size of a settled network's
    network.set_weights((scale * random.normal(d, d)).cast<T>(), Matrix<T>::Identity(d, d));
    Vector<T> y(d);
    for (int t = 0; t < 20; ++t) {
      const Vector<T> x = random.normal(d, 1).cast<T>();
      Matrix<T> W = network.feedforward();
      Matrix<T> M = network.lateral();
      ASSERT_EQ(network.step(x, y), NetworkStatus::ok);
      const Vector<T> c = network.dendritic_currents();
      const T a = network.total_activity();
      EXPECT_NEAR(a, y.squaredNorm(), 1e-5 * a);
      for (Index i = 0; i < d; ++i) {
        for (Index j = 0; j < d; ++j) {
          W(i, j) += feedforward_plasticity<T>(x(j), y(i), c(i), a, T(lambda2(i)), T(options.eta));
          M(i, j) += lateral_plasticity<T>(y(i), y(j), i == j, T(options.eta), T(options.tau));
        }
      }
      const T rounding = 8 * std::numeric_limits<T>::epsilon();
      EXPECT_TRUE(network.feedforward().isApprox(W, rounding)) << d;
      EXPECT_TRUE(network.lateral().isApprox(M, rounding)) << d;
    }
  }
}

TYPED_TEST(Scalar, OutputsAreMInverseWX) {
  using T = TypeParam;
  SmIcaNetwork<T> network(5, 3, lively());  // fewer outputs than inputs
  Random random(1);
  Vector<T> y(3);
  for (int t = 0; t < 50; ++t) {
    const Vector<T> x = random.normal(5, 1).cast<T>();
    const Vector<T> expected = network.unmixing() * x;
    ASSERT_EQ(network.step(x, y), NetworkStatus::ok);
    EXPECT_TRUE(y.isApprox(expected, T(1e3) * std::numeric_limits<T>::epsilon()));
  }
  EXPECT_EQ(network.frames(), 50);
}

TYPED_TEST(Scalar, TheDynamicsSettleWhereTheSolutionIs) {
  using T = TypeParam;
  for (const bool autapses : {true, false}) {
    SmIcaNetworkOptions options = lively();
    SmIcaNetwork<T> direct(4, 4, options);
    options.dynamics = Dynamics::iterate;
    options.autapses = autapses;
    SmIcaNetwork<T> neural(4, 4, options);
    Random random(2);
    Vector<T> y1(4);
    Vector<T> y2(4);
    for (int t = 0; t < 300; ++t) {
      const Vector<T> x = random.normal(4, 1).cast<T>();
      ASSERT_EQ(direct.step(x, y1), NetworkStatus::ok);
      ASSERT_EQ(neural.step(x, y2), NetworkStatus::ok);
      EXPECT_TRUE(y1.isApprox(y2, T(1e5) * std::numeric_limits<T>::epsilon()));
      EXPECT_EQ(direct.iterations(), 0);
    }
    EXPECT_GT(neural.iterations(), 0);
    EXPECT_LE(neural.residual(), T(64) * std::numeric_limits<T>::epsilon());
    EXPECT_TRUE(direct.lateral().isApprox(neural.lateral(), T(1e5) * std::numeric_limits<T>::epsilon()));
  }
}

TEST(SmIcaNetwork, DynamicsThatCannotSettleSaySo) {
  SmIcaNetworkOptions options = lively();
  options.dynamics = Dynamics::iterate;
  options.max_iterations = 2;
  SmIcaNetwork<double> hurried(3, 3, options);
  Matrix<double> M = Matrix<double>::Identity(3, 3);
  M(0, 1) = M(1, 0) = 0.9;
  hurried.set_weights(Matrix<double>::Identity(3, 3), M);
  Vector<double> y(3);
  EXPECT_EQ(hurried.step(Vector<double>::Ones(3), y), NetworkStatus::not_settled);
  EXPECT_EQ(hurried.iterations(), 2);
  EXPECT_EQ(hurried.status(), NetworkStatus::ok);  // it may go on
  M(0, 1) = M(1, 0) = 1.5;
  hurried.set_weights(Matrix<double>::Identity(3, 3), M);
  EXPECT_EQ(hurried.step(Vector<double>::Ones(3), y), NetworkStatus::lateral_not_positive_definite);
}

TYPED_TEST(Scalar, AnIndefiniteMIsAStatusAtThatStep) {
  using T = TypeParam;
  SmIcaNetwork<T> network(3, 3, lively());
  Matrix<T> M = Matrix<T>::Identity(3, 3);
  M(1, 1) = T(1e-3);  // the next frame takes it below zero
  network.set_weights(Matrix<T>::Identity(3, 3), M);
  Vector<T> y = Vector<T>::Constant(3, 7);
  const Vector<T> x = Vector<T>::Unit(3, 0);
  EXPECT_EQ(network.step(x, y), NetworkStatus::ok);
  const Matrix<T> W = network.feedforward();
  EXPECT_EQ(network.step(x, y), NetworkStatus::lateral_not_positive_definite);
  EXPECT_EQ(y.norm(), 0);
  EXPECT_EQ(network.step(x, y), NetworkStatus::lateral_not_positive_definite);
  EXPECT_EQ(network.feedforward(), W);
  EXPECT_EQ(network.frames(), 1);
}

TYPED_TEST(Scalar, RunawayWeightsAreAStatusAndNeverNaN) {
  using T = TypeParam;
  SmIcaNetworkOptions options;
  options.eta = 0.5;
  options.tau = 0.6;
  SmIcaNetwork<T> network(3, 3, options);
  const Matrix<T> X = (10 * Random(1).normal(3, 5000)).cast<T>();
  Matrix<T> Y(3, 5000);
  const NetworkStatus status = network.process(X, Y);
  EXPECT_TRUE(status == NetworkStatus::weights_not_finite ||
              status == NetworkStatus::lateral_not_positive_definite);
  EXPECT_TRUE(Y.allFinite());
  EXPECT_TRUE(network.feedforward().allFinite());
  EXPECT_TRUE(network.lateral().allFinite());
  EXPECT_LT(network.frames(), 5000);
  EXPECT_EQ(Y.rightCols(10).norm(), 0);
}

TYPED_TEST(Scalar, HugeInputsAreAStatusToo) {
  using T = TypeParam;
  SmIcaNetwork<T> network(2, 2, lively());
  Vector<T> y(2);
  const Vector<T> x = Vector<T>::Constant(2, std::numeric_limits<T>::max() / 4);
  network.step(x, y);
  EXPECT_NE(network.status(), NetworkStatus::ok);
  EXPECT_TRUE(y.allFinite());
  EXPECT_TRUE(network.feedforward().allFinite());
}

TYPED_TEST(Scalar, BadFramesAreRefusedAndForgotten) {
  using T = TypeParam;
  SmIcaNetwork<T> a(3, 3, lively());
  SmIcaNetwork<T> b(3, 3, lively());
  Random random(4);
  Vector<T> y(3);
  for (int t = 0; t < 100; ++t) {
    const Vector<T> x = random.normal(3, 1).cast<T>();
    a.step(x, y);
    b.step(x, y);
    Vector<T> bad = x;
    bad(t % 3) = t % 2 == 0 ? std::numeric_limits<T>::quiet_NaN() : std::numeric_limits<T>::infinity();
    EXPECT_EQ(b.step(bad, y), NetworkStatus::bad_input);
    EXPECT_EQ(y.norm(), 0);
  }
  EXPECT_EQ(b.refused(), 100);
  EXPECT_EQ(a.feedforward(), b.feedforward());
  EXPECT_EQ(a.lateral(), b.lateral());
}

TYPED_TEST(Scalar, BlocksDoNotMatterAndTheSeedDoes) {
  using T = TypeParam;
  const Matrix<T> X = make_scenario(4, 1000, 5).mixtures.cast<T>();
  Matrix<T> whole(3, 1000);
  Matrix<T> parts(3, 1000);
  SmIcaNetwork<T> a(3, 3, lively());
  SmIcaNetwork<T> b(3, 3, lively());
  a.process(X, whole);
  for (Index t = 0; t < 1000; t += 37) {
    const Index n = std::min<Index>(37, 1000 - t);
    b.process(X.middleCols(t, n), parts.middleCols(t, n));
  }
  EXPECT_EQ(whole, parts);
  SmIcaNetworkOptions other = lively();
  other.seed = 4;
  EXPECT_NE(SmIcaNetwork<T>(3, 3, other).feedforward(), SmIcaNetwork<T>(3, 3, lively()).feedforward());
}

TEST(SmIcaNetwork, ThePlasticityTurnsFromPotentiationToDepressionAtLambdaSquared) {
  const double lambda2 = 2.5;
  EXPECT_GT(hebbian_factor(2.4, lambda2), 0);
  EXPECT_LT(hebbian_factor(2.6, lambda2), 0);
  EXPECT_EQ(hebbian_factor(2.5, lambda2), 0);
  // With M = I (so c = y) the full rule is the approximate one.
  EXPECT_NEAR(feedforward_plasticity(0.7, 1.2, 1.2, 4.0, lambda2, 0.01),
              2 * 0.01 * hebbian_factor(4.0, lambda2) * 1.2 * 0.7, 1e-15);
}

TEST(SmIcaNetwork, MisuseIsNamed) {
  EXPECT_THROW(SmIcaNetwork<double>(2, 3), std::invalid_argument);
  EXPECT_THROW(SmIcaNetwork<double>(0, 0), std::invalid_argument);
  SmIcaNetworkOptions options;
  options.eta = -1;
  EXPECT_THROW(SmIcaNetwork<double>(2, 2, options), std::invalid_argument);
  options = {};
  options.lambda2 = Vector<double>::Ones(3);
  EXPECT_THROW(SmIcaNetwork<double>(2, 2, options), std::invalid_argument);
  SmIcaNetwork<double> network(2, 2);
  Vector<double> y(2);
  EXPECT_THROW(network.step(Vector<double>::Ones(3), y), std::invalid_argument);
  EXPECT_THROW(network.set_weights(Matrix<double>::Ones(2, 3), Matrix<double>::Ones(2, 2)),
               std::invalid_argument);
  EXPECT_STREQ(describe(NetworkStatus::ok), "ok");
}

// The paper's condition on the rates is not enough: M loses (eta/tau) I in a quiet frame, and the neuron of
// the Laplace source in scenario 3 rests at M_ii = lambda^2/D = (1/6.07)/8 = .021.
TEST(SmIcaNetwork, EtaBelowTauDoesNotKeepTheLateralWeightsPositiveDefinite) {
  SmIcaNetworkOptions options;
  options.eta = 5e-3;
  options.tau = 0.75;
  SmIcaNetwork<double> network(3, 3, options);
  Matrix<double> M = Matrix<double>::Identity(3, 3);
  M(0, 0) = 1 / 6.07 / 8;
  network.set_weights(Matrix<double>::Identity(3, 3), M);
  Vector<double> y(3);
  const Vector<double> quiet = Vector<double>::Zero(3);
  int frames = 0;
  while (network.step(quiet, y) == NetworkStatus::ok) ++frames;
  EXPECT_EQ(network.status(), NetworkStatus::lateral_not_positive_definite);
  EXPECT_EQ(frames, static_cast<int>(std::ceil(M(0, 0) / (options.eta / options.tau))));  // 4
}

// W <- W + 2 eta (y - w(||y||^2) Lambda^-2 c) x^T, whatever w: the synapse hears one number as before.
TYPED_TEST(Scalar, TheModulatorIsAnyFunctionOfTotalActivity) {
  using T = TypeParam;
  for (const std::string_view name : weight_names()) {
    SmIcaNetworkOptions options = lively();
    options.weight = weight_named(name);
    SmIcaNetwork<T> network(3, 3, options);
    Random random(4);
    Vector<T> y(3);
    for (int t = 0; t < 5; ++t) {
      const Vector<T> x = random.normal(3, 1).cast<T>();
      const Matrix<T> W = network.feedforward();
      ASSERT_EQ(network.step(x, y), NetworkStatus::ok);
      const Vector<T> c = W * x;
      const auto w = static_cast<T>(weight_value(options.weight, static_cast<double>(y.squaredNorm())));
      Matrix<T> expected = W;
      for (Index i = 0; i < 3; ++i) {
        for (Index j = 0; j < 3; ++j) {
          expected(i, j) +=
              feedforward_plasticity<T>(x(j), y(i), c(i), w, T(default_lambda2(3)(i)), T(options.eta));
        }
      }
      EXPECT_TRUE(network.feedforward().isApprox(expected, T(1e-5))) << name;
    }
  }
}

}  // namespace
}  // namespace demix
