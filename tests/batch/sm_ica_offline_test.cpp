#include "demix/sm_ica_offline.hpp"

#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/objective.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

TYPED_TEST(Scalar, OfflineReachesFobiWithoutOptions) {
  const Matrix<TypeParam> X = make_scenario(4, 30000, 1).mixtures.cast<TypeParam>();
  const SmIcaOffline run = sm_ica_offline(X);
  EXPECT_EQ(run.status, OfflineStatus::converged);
  const Matrix<double> Y = run.model.apply(X).template cast<double>();
  EXPECT_LT(mse(fobi(X).apply(X).template cast<double>(), Y), 1e-6);
  EXPECT_TRUE((Y * Y.transpose() / 30000).isIdentity(1e-5));
}

TEST(SmIcaOffline, YIsMInverseWX) {
  const Matrix<double> X = make_scenario(4, 5000, 2).mixtures;
  const SmIcaOffline run = sm_ica_offline(X);
  const Matrix<double> B = Cholesky(run.M).solve(run.W);
  for (Index k = 0; k < 3; ++k) {
    const double sign = B.row(k).dot(run.model.unmixing.row(k)) < 0 ? -1 : 1;
    EXPECT_TRUE(B.row(k).isApprox(sign * run.model.unmixing.row(k), 1e-8));
  }
}

// Saddles are slow but the way is always down.
TEST(SmIcaOffline, TheObjectiveFallsAtEveryStep) {
  const Matrix<double> raw = make_scenario(2, 3000, 3).mixtures;
  const Matrix<double> X = raw.colwise() - raw.rowwise().mean();
  const Matrix<double> gamma_inv = gamma_inverse(X);
  const Vector<double> lambda2 = default_lambda2(3);
  for (const double eta : {1.0, 0.3}) {
    double last = std::numeric_limits<double>::infinity();
    SmIcaOfflineOptions options;
    options.eta = eta;
    options.watch = [&](Index, const Matrix<double>& W, const Matrix<double>& M) {
      const Matrix<double> Y = Cholesky(M).solve(W) * X;
      const double now = min_max_objective(W, M, Y, X, gamma_inv, lambda2);
      EXPECT_LE(now, last + 1e-9 * std::abs(last));
      last = now;
    };
    EXPECT_EQ(sm_ica_offline(X, options).status, OfflineStatus::converged);
  }
}

TEST(SmIcaOffline, TheMixingDoesNotChangeTheRun) {
  const Mixture m = make_scenario(4, 5000, 4);
  Random random(5);
  const SmIcaOffline a = sm_ica_offline(m.mixtures);
  const Matrix<double> B = conditioned_mixing(3, 1e5, random);
  const SmIcaOffline b = sm_ica_offline(B * m.mixtures);
  EXPECT_LT(mse(a.model.apply(m.mixtures), b.model.apply(B * m.mixtures)), 1e-8);
}

// Largest lambda, smallest kurtosis: reversing lambda reverses the network's outputs, not the model's order.
TEST(SmIcaOffline, LambdaDecidesTheOrder) {
  const Matrix<double> X = make_scenario(4, 30000, 6).mixtures;
  SmIcaOfflineOptions options;
  options.lambda2 = default_lambda2(3).reverse();
  const SmIcaOffline reversed = sm_ica_offline(X, options);
  const SmIcaOffline plain = sm_ica_offline(X);
  EXPECT_TRUE(reversed.model.kurtosis.isApprox(plain.model.kurtosis, 1e-6));
  const Matrix<double> a = Cholesky(plain.M).solve(plain.W);
  const Matrix<double> b = Cholesky(reversed.M).solve(reversed.W);
  EXPECT_NEAR(std::abs(a.row(0).normalized().dot(b.row(2).normalized())), 1, 1e-6);
}

TEST(SmIcaOffline, PublishedStepsConvergeOnWhiteDataWithTheRightTau) {
  Random random(2);
  const Matrix<double> A = uniform_mixing(3, 0.5, random);
  const Mixture m = mix(make_sources(scenario_sources(3), 3000, Timing::iid, random), A, true);
  SmIcaOfflineOptions options;
  options.steps = SmIcaOfflineOptions::Steps::published;
  options.lambda2 = lambda2_from_table({1.0, 1.5, 6.07}, LambdaReading::inverse_square);
  options.eta = 5e-3;
  options.tau = 0.3;
  options.tolerance = 1e-4;
  const SmIcaOffline run = sm_ica_offline(m.mixtures, options);
  EXPECT_EQ(run.status, OfflineStatus::converged);
  EXPECT_LT(mse(fobi(m.mixtures).apply(m.mixtures), run.model.apply(m.mixtures)), 1e-4);
  options.tau = 0.1;  // too fast an M, and it is lost within a few steps
  EXPECT_EQ(sm_ica_offline(m.mixtures, options).status, OfflineStatus::diverged);
}

TEST(SmIcaOffline, DivergenceIsAStatus) {
  SmIcaOfflineOptions options;
  options.steps = SmIcaOfflineOptions::Steps::published;
  options.eta = 5;
  options.tau = 6;
  const SmIcaOffline run = sm_ica_offline(make_scenario(4, 1000, 8).mixtures, options);
  EXPECT_EQ(run.status, OfflineStatus::diverged);
}

TEST(SmIcaOffline, RunningOutOfIterationsIsAStatusWithTheResult) {
  SmIcaOfflineOptions options;
  options.max_iterations = 3;
  const Matrix<double> X = make_scenario(4, 1000, 9).mixtures;
  const SmIcaOffline run = sm_ica_offline(X, options);
  EXPECT_EQ(run.status, OfflineStatus::max_iterations);
  EXPECT_EQ(run.iterations, 3);
  EXPECT_NO_THROW(run.model.validate());
  EXPECT_EQ(run.model.warnings.back().kind, Warning::Kind::not_converged);
}

TEST(SmIcaOffline, TheSeedDecidesTheStartAndNothingElse) {
  const Matrix<double> X = make_scenario(4, 5000, 10).mixtures;
  SmIcaOfflineOptions options;
  options.seed = 5;
  const SmIcaOffline a = sm_ica_offline(X, options);
  const SmIcaOffline b = sm_ica_offline(X, options);
  EXPECT_EQ(a.model.unmixing, b.model.unmixing);
  options.seed = 6;
  EXPECT_LT(mse(a.model.apply(X), sm_ica_offline(X, options).model.apply(X)), 1e-8);
}

TEST(SmIcaOffline, MisuseIsNamed) {
  const Matrix<double> X = make_scenario(4, 100, 1).mixtures;
  SmIcaOfflineOptions options;
  options.eta = 1.5;
  EXPECT_THROW(sm_ica_offline(X, options), std::invalid_argument);
  options = {};
  options.lambda2 = Vector<double>::Ones(3);
  EXPECT_THROW(sm_ica_offline(X, options), std::invalid_argument);
  options = {};
  options.lambda2 = default_lambda2(2);
  EXPECT_THROW(sm_ica_offline(X, options), std::invalid_argument);
}

}  // namespace
}  // namespace demix
