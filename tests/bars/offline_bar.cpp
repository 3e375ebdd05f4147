// Offline SM-ICA: the outputs of FOBI, never diverging without options; its fixed point and the order of its
// outputs.
#include <cmath>
#include <cstdio>

#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/sm_ica_offline.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

const std::vector<Source> four{Source::square, Source::sine, Source::sawtooth, Source::laplace};

TYPED_TEST(Scalar, OfflineEqualsFobi) {
  using T = TypeParam;
  for (const bool white : {true, false}) {
    std::vector<double> between;
    Index most = 0;
    for (std::uint64_t seed = 0; seed < 20; ++seed) {
      Random random(seed);
      const Matrix<double> A = normal_mixing(4, random);
      const Mixture m = mix(make_sources(four, 100000, Timing::iid, random), A, white);
      const Matrix<T> X = m.mixtures.cast<T>();
      SmIcaOfflineOptions options;
      options.seed = seed;
      const SmIcaOffline run = sm_ica_offline(X, options);
      EXPECT_EQ(run.status, OfflineStatus::converged) << seed;
      between.push_back(
          mse(fobi(X).apply(X).template cast<double>(), run.model.apply(X).template cast<double>()));
      EXPECT_LT(between.back(), 1e-6) << seed;
      most = std::max(most, run.iterations);
    }
    std::printf(
        "[  FIGURE  ] offline SM-ICA against FOBI, %s, %s data, 20 mixings: worst MSE between them %.1e (bar "
        "1e-6), "
        "at most %ld iterations\n",
        sizeof(T) == 8 ? "double" : "float", white ? "white" : "coloured", testing::largest(between),
        static_cast<long>(most));
  }
}

// M_ii = lambda_i^2 / (kurt + d - 1), and the largest lambda takes the smallest kurtosis: here with the
// paper's Lambda.
TEST(OfflineBar, FixedPointAndOrder) {
  Random random(5);
  const Matrix<double> A = normal_mixing(4, random);
  const Mixture m = mix(make_sources(four, 1000000, Timing::iid, random), A, true);
  SmIcaOfflineOptions options;
  options.lambda2 = lambda2_from_table({1.0, 1.5, 1.8, 6.07}, LambdaReading::direct);
  const SmIcaOffline run = sm_ica_offline(m.mixtures, options);
  ASSERT_EQ(run.status, OfflineStatus::converged);
  const Matrix<double> Y = Cholesky(run.M).solve(run.W) * (m.mixtures.colwise() - run.model.mean);
  const double expected[] = {1 / 9., 2.25 / 4.8, 3.24 / 4.5, 36.84 / 4};  // Laplace, saw, sine, square
  const Index source_of[] = {3, 2, 1, 0};
  double worst = 0;
  for (Index i = 0; i < 4; ++i) {
    const auto y = Y.row(i).array();
    const double kurtosis = y.pow(4).mean() / std::pow(y.square().mean(), 2);
    const double predicted = options.lambda2(i) / (kurtosis + 3);
    worst = std::max(worst, std::abs(run.M(i, i) / predicted - 1));
    EXPECT_NEAR(run.M(i, i), expected[i], 0.02 * expected[i]);
    const double match = std::abs(y.matrix().dot(m.sources.row(source_of[i]))) / 1e6;
    EXPECT_GT(match, 0.99) << "output " << i;
  }
  EXPECT_LT(worst, 0.02);
  const Matrix<double> off = run.M - Matrix<double>(run.M.diagonal().asDiagonal());
  EXPECT_LT(off.cwiseAbs().maxCoeff(), 0.02);
  std::printf(
      "[  FIGURE  ] fixed point: M = diag(%.3f, %.3f, %.3f, %.3f), within %.2f %% of lambda^2/(kurt + d - 1) "
      "(bar 2 %%); outputs are Laplace, saw, sine, square as predicted\n",
      run.M(0, 0), run.M(1, 1), run.M(2, 2), run.M(3, 3), 100 * worst);
}

}  // namespace
}  // namespace demix
