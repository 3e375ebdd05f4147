#include "demix/sm_ica_offline.hpp"

#include <algorithm>

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

// W <- W + 2 eta (Y X^T/T - Lambda^-2 W (1/T) sum ||y||^2 x x^T),   M <- M + (eta/tau) (Y Y^T/T - I)
// from the moments of few channels and frame by frame of many.
TEST(SmIcaOffline, PublishedStepsAreThoseOfThePaper) {
  for (const auto& [d, weight] : std::vector<std::pair<Index, Weight>>{{2, Weight::square},
                                                                       {3, Weight::square},
                                                                       {4, Weight::square},
                                                                       {5, Weight::square},
                                                                       {17, Weight::square},
                                                                       {3, Weight::reciprocal},
                                                                       {5, Weight::log}}) {
    const double T = 1500;
    Random random(11);
    const Matrix<double> raw = Matrix<double>::NullaryExpr(d, 1500, [&] { return 0.3 + random.laplace(); });
    const Matrix<double> X = raw.colwise() - raw.rowwise().mean();
    SmIcaOfflineOptions options;
    options.steps = SmIcaOfflineOptions::Steps::published;
    options.lambda2 = Vector<double>::LinSpaced(d, 0.3, 2.5);
    options.weight = weight;
    options.eta = 3e-5;
    options.tau = 0.4;
    options.max_iterations = 3;
    std::vector<Matrix<double>> Ws, Ms;
    options.watch = [&](Index iteration, const Matrix<double>& W, const Matrix<double>& M) {
      EXPECT_EQ(iteration, std::ssize(Ws));
      Ws.push_back(W);
      Ms.push_back(M);
    };
    const SmIcaOffline run = sm_ica_offline(raw, options);
    ASSERT_EQ(Ws.size(), 4U) << d;
    EXPECT_EQ(Ms[0], (Matrix<double>::Identity(d, d)));
    for (std::size_t k = 0; k + 1 < Ws.size(); ++k) {
      const Matrix<double> Y = inverse(Ms[k]) * Ws[k] * X;
      Matrix<double> weighted = Matrix<double>::Zero(d, d);
      for (Index t = 0; t < X.cols(); ++t)
        weighted += weight_value(weight, Y.col(t).squaredNorm()) * X.col(t) * X.col(t).transpose() / T;
      const Matrix<double> dW =
          Y * X.transpose() / T - options.lambda2.cwiseInverse().asDiagonal() * (Ws[k] * weighted);
      const Matrix<double> dM = Y * Y.transpose() / T - Matrix<double>::Identity(d, d);
      EXPECT_TRUE((Ws[k + 1] - Ws[k]).isApprox(2 * 3e-5 * dW, 1e-9)) << d << " " << k;
      EXPECT_TRUE((Ms[k + 1] - Ms[k]).isApprox(3e-5 / 0.4 * dM, 1e-9)) << d << " " << k;
    }
    EXPECT_EQ(run.W, Ws.back());
    EXPECT_EQ(run.M, Ms.back());
    EXPECT_EQ(run.iterations, 3);
  }
}

// The paper's range of the rates holds offline, too.
TEST(SmIcaOffline, PublishedStepsNeedATauAboveEta) {
  SmIcaOfflineOptions options;
  options.eta = options.tau = 0.5;
  EXPECT_NO_THROW(options.validate());  // natural steps have no tau
  options.steps = SmIcaOfflineOptions::Steps::published;
  EXPECT_THROW(options.validate(), std::invalid_argument);
  options.eta = 0;
  options.tau = 5e-3;  // the default eta
  try {
    options.validate();
    ADD_FAILURE() << "not refused";
  } catch (const std::invalid_argument& e) {  // no more is promised than is true
    EXPECT_NE(std::string(e.what()).find("does not yet keep M positive definite"), std::string::npos);
  }
}

// In whitened coordinates: M = (W W^T)^1/2, W <- W + eta (Lambda^2 M^-1 W C_z^-1 - W)
TEST(SmIcaOffline, NaturalStepsAreThoseOfTheFormula) {
  const Matrix<double> raw = make_scenario(4, 2000, 12).mixtures;
  const Matrix<double> X = raw.colwise() - raw.rowwise().mean();
  const Matrix<double> root = inverse_sqrt(symmetric_eigen(X * X.transpose() / 2000));
  const Matrix<double> h = root * X;
  for (const double eta : {1.0, 0.3}) {
    SmIcaOfflineOptions options;
    options.eta = eta;
    options.max_iterations = 3;
    options.lambda2 = Vector<double>{{0.3, 1.1, 2.5}};
    std::vector<Matrix<double>> Ws, Ms;
    options.watch = [&](Index, const Matrix<double>& W, const Matrix<double>& M) {
      Ws.push_back(W * inverse(root));  // in the coordinates of h
      Ms.push_back(M);
    };
    sm_ica_offline(raw, options);
    const Matrix<double> Cz =
        h * Vector<double>(h.colwise().squaredNorm().transpose()).asDiagonal() * h.transpose() / 2000;
    for (std::size_t k = 0; k + 1 < Ws.size(); ++k) {
      EXPECT_TRUE((Ms[k] * Ms[k]).isApprox(Ws[k] * Ws[k].transpose(), 1e-8)) << k;
      const Matrix<double> target = options.lambda2.asDiagonal() * inverse(Ms[k]) * Ws[k] * inverse(Cz);
      EXPECT_TRUE(Ws[k + 1].isApprox(Ws[k] + eta * (target - Ws[k]), 1e-8)) << k << " " << eta;
    }
  }
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
  EXPECT_TRUE(std::ranges::any_of(run.model.warnings,
                                  [](const Warning& w) { return w.kind == Warning::Kind::not_converged; }));
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
