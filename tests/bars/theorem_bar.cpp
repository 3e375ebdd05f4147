// Theorem 1 at size: 1e6 samples of the four sources, 100 random mixings, condition numbers up to 1e6
// (double) and 1e3 (float): FOBI recovers every source.
#include <cmath>
#include <cstdio>

#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

TYPED_TEST(Scalar, Theorem1) {
  using T = TypeParam;
  constexpr Index samples = 1000000;
  const double worst_condition = sizeof(T) == 8 ? 1e6 : 1e3;
  Random random(2021);
  const Matrix<double> S = make_sources({Source::square, Source::sine, Source::sawtooth, Source::laplace},
                                        samples, Timing::iid, random);
  std::vector<double> error;
  double worst_rounding = 0;
  for (int k = 0; k < 100; ++k) {
    const double condition = std::pow(worst_condition, k / 99.0);
    const Matrix<T> X = (conditioned_mixing(4, condition, random) * S).cast<T>();
    const Model model = fobi(X);
    ASSERT_EQ(model.components(), 4) << condition;
    const Matrix<T> Y = model.apply(X);
    RunningMse running(4);
    running.add(S, Matrix<double>(Y.template cast<double>()));
    error.push_back(running.mse_per_source().maxCoeff());
    EXPECT_LT(error.back(), 1e-3) << condition;
    // Y = W X to rounding, on a part: |Y - W(X - mean)| against what rounding may do, |W||X - mean| eps
    const Matrix<double> centred = X.leftCols(1000).template cast<double>().colwise() - model.mean;
    const Matrix<double> difference = Y.leftCols(1000).template cast<double>() - model.unmixing * centred;
    const Matrix<double> scale = model.unmixing.cwiseAbs() * centred.cwiseAbs();
    worst_rounding = std::max(worst_rounding, (difference.array().abs() / scale.array()).maxCoeff());
  }
  EXPECT_LT(worst_rounding, 4 * std::numeric_limits<T>::epsilon());
  std::printf(
      "[  FIGURE  ] theorem 1, %s, condition up to %.0e: worst MSE of any source %.2e, median %.2e (bar "
      "1e-3); "
      "Y = W X within %.1e\n",
      sizeof(T) == 8 ? "double" : "float", worst_condition, testing::largest(error), testing::median(error),
      worst_rounding);
}

}  // namespace
}  // namespace demix
