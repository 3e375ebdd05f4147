#include "demix/local_network.hpp"

#include <cmath>

#include "demix/metrics.hpp"
#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

Matrix<double> run(LocalNetwork& network, const Matrix<double>& X) {
  Matrix<double> Y(X.rows(), X.cols());
  Vector<double> y(X.rows());
  for (Index t = 0; t < X.cols(); ++t) {
    network.step(X.col(t), y);
    Y.col(t) = y;
  }
  return Y;
}

TEST(LocalNetwork, SeparatesAsTheNaturalOneDoes) {
  for (int scenario = 1; scenario <= 4; ++scenario) {
    const Mixture m = make_scenario(scenario, 60000, static_cast<std::uint64_t>(scenario));
    LocalNetwork network(3);
    const Matrix<double> Y = run(network, m.mixtures);
    NaturalNetwork<double> natural(3);
    Matrix<double> unused(3, 60000);
    natural.process(Frames<double>(m.mixtures), unused);
    EXPECT_LT(mse_of_gain(network.unmixing() * m.mixing),
              3 * mse_of_gain(natural.unmixing() * m.mixing) + 2e-3)
        << scenario;
    EXPECT_LT(mse(m.sources.rightCols(5000), Y.rightCols(5000)), 0.03);  // as they came out
  }
}

// It learns in the coordinates of the whitened inputs without having them.
TEST(LocalNetwork, TheMixingDoesNotMatter) {
  const Mixture m = make_scenario(4, 20000, 5);
  Random random(6);
  LocalNetwork plain(3);
  run(plain, m.mixtures);
  const double error = mse_of_gain(plain.unmixing() * m.mixing);
  EXPECT_LT(error, 0.01);
  for (const double condition : {10.0, 1e3, 1e5}) {
    const Matrix<double> A = conditioned_mixing(3, condition, random);
    LocalNetwork network(3);
    run(network, (A * m.sources).array() + 10);
    EXPECT_LT(mse_of_gain(network.unmixing() * A), 10 * error + 1e-3) << condition;
  }
}

TEST(LocalNetwork, NeverDiverges) {
  Random random(8);
  for (int k = 0; k < 12; ++k) {
    LocalNetwork network(4);
    Matrix<double> X = conditioned_mixing(4, 1e4, random) * random.normal(4, 3000);
    for (Index t = 0; t < 3000; ++t) {
      if (k % 4 == 1) X.col(t) *= std::exp(3 * random.normal());          // wild bursts
      if (k % 4 == 2) X.col(t) *= t < 1500 ? 1e-6 : 1e6;                  // a jump of twelve decades
      if (k % 4 == 3 && random.uniform() < 0.01) X.col(t).array() = 1e8;  // saturation
    }
    EXPECT_TRUE(run(network, X).allFinite());
    EXPECT_TRUE(network.unmixing().allFinite());
  }
}

TEST(LocalNetwork, RefusesBadFramesAndDependentInputs) {
  const Mixture m = make_scenario(4, 3000, 9);
  LocalNetwork network(3);
  LocalNetwork without(3);
  Vector<double> y(3);
  for (Index t = 0; t < 3000; ++t) {
    EXPECT_TRUE(network.step(m.mixtures.col(t), y));
    without.step(m.mixtures.col(t), y);
    EXPECT_FALSE(network.step(Vector<double>::Constant(3, std::nan("")), y));
    EXPECT_EQ(y, Vector<double>::Zero(3));
  }
  EXPECT_EQ(network.unmixing(), without.unmixing());
  LocalNetwork dependent(3);
  Matrix<double> X = m.mixtures;
  X.row(2).setZero();
  EXPECT_EQ(run(dependent, X), Matrix<double>::Zero(3, 3000));
  EXPECT_FALSE(dependent.learning());
  EXPECT_THROW(LocalNetwork(0), std::invalid_argument);
  EXPECT_THROW(LocalNetwork(3, {.lambda2 = Vector<double>{{1, 2}}}), std::invalid_argument);
}

}  // namespace
}  // namespace demix
