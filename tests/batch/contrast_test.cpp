#include "batch/contrast_sums.hpp"

#include <cmath>

#include "demix/random.hpp"
#include "simd_support.hpp"
#include "support.hpp"

namespace demix {
namespace {

struct Plain {
  double g, slope, value;
};

Plain plain(Contrast contrast, double y) {
  const double bell = std::exp(-y * y / 2);
  switch (contrast) {
    case Contrast::logcosh:
      return {std::tanh(y), 1 - std::tanh(y) * std::tanh(y),
              std::abs(y) + std::log1p(std::exp(-2 * std::abs(y))) - std::log(2.0)};
    case Contrast::exp:
      return {y * bell, (1 - y * y) * bell, 1 - bell};
    case Contrast::cube:
      return {y * y * y, 3 * y * y, y * y * y * y / 4};
    case Contrast::skew:
      break;
  }
  return {y * y, 2 * y, y * y * y / 3};
}

using ContrastKernels = testing::EachGeneration;
INSTANTIATE_TEST_SUITE_P(Simd, ContrastKernels, testing::generations(), testing::generation_name);

constexpr Contrast contrasts[] = {Contrast::logcosh, Contrast::exp, Contrast::cube, Contrast::skew};

// Against one frame after the other, with and without weights; 777 frames do not fill their blocks.
TEST_P(ContrastKernels, SumsAreThoseOfTheFormulas) {
  Random random(1);
  const Index d = 5;
  const Index n = 777;
  const Matrix<double> X = 2 * random.normal(3, d).transpose() * random.normal(3, n) + random.normal(d, n);
  const Vector<double> mean = random.normal(d, 1);
  const Matrix<double> B = random.normal(3, d);
  Vector<double> w(n);
  for (double& v : w) v = static_cast<double>(random.below(3));
  const MatrixRecording<double> recording(X);
  const WeightedRecording weighted(recording, w);
  for (const Contrast contrast : contrasts) {
    for (const bool by_weight : {false, true}) {
      ContrastSums expected{Matrix<double>::Zero(3, d), Vector<double>::Zero(3), Vector<double>::Zero(3),
                            Vector<double>::Zero(3), 0};
      for (Index t = 0; t < n; ++t) {
        const double weight = by_weight ? w(t) : 1;
        const Vector<double> x = X.col(t) - mean;
        const Vector<double> y = B * x;
        for (Index i = 0; i < 3; ++i) {
          const Plain p = plain(contrast, y(i));
          expected.product.row(i) += weight * p.g * x.transpose();
          expected.slope(i) += weight * p.slope;
          expected.value(i) += weight * p.value;
          expected.square(i) += weight * y(i) * y(i);
        }
        expected.frames += weight;
      }
      const Recording& data = by_weight ? static_cast<const Recording&>(weighted) : recording;
      const ContrastSums sums = sum_over(data, ContrastRequest{mean, B, contrast});
      EXPECT_TRUE(sums.product.isApprox(expected.product, 1e-12)) << contrast_name(contrast) << by_weight;
      EXPECT_TRUE(sums.slope.isApprox(expected.slope, 1e-12)) << contrast_name(contrast) << by_weight;
      EXPECT_TRUE(sums.value.isApprox(expected.value, 1e-12)) << contrast_name(contrast) << by_weight;
      EXPECT_TRUE(sums.square.isApprox(expected.square, 1e-12)) << contrast_name(contrast) << by_weight;
      EXPECT_EQ(sums.frames, expected.frames);
    }
  }
}

TEST_P(ContrastKernels, InFloatTheSumsAreGoodToSixDigits) {
  Random random(2);
  const Matrix<double> X = 2 * random.normal(5, 777);
  const MatrixRecording<double> recording(X);
  const Matrix<double> B = random.normal(3, 5);
  for (const Contrast contrast : contrasts) {
    const ContrastSums exact = sum_over(recording, ContrastRequest{Vector<double>::Zero(5), B, contrast});
    const ContrastSums sums =
        sum_over(recording, ContrastRequest{Vector<double>::Zero(5), B, contrast, true});
    EXPECT_TRUE(sums.product.isApprox(exact.product, 2e-6)) << contrast_name(contrast);
    EXPECT_TRUE(sums.slope.isApprox(exact.slope, 2e-5)) << contrast_name(contrast);
    EXPECT_TRUE(sums.value.isApprox(exact.value, 2e-6)) << contrast_name(contrast);
    EXPECT_TRUE(sums.square.isApprox(exact.square, 2e-6)) << contrast_name(contrast);
  }
}

TEST_P(ContrastKernels, HugeOutputsStayNumbers) {
  const Matrix<double> X = Vector<double>{{-1e8, -800, -1e-300, 0, 1e-3, 30, 1e8}}.transpose();
  const MatrixRecording<double> recording(X);
  for (const Contrast contrast : contrasts) {
    for (const bool in_float : {false, true}) {
      const ContrastSums sums =
          sum_over(recording,
                   ContrastRequest{Vector<double>::Zero(1), Matrix<double>::Ones(1, 1), contrast, in_float});
      EXPECT_TRUE(sums.product.allFinite() && sums.slope.allFinite() && sums.value.allFinite());
    }
  }
}

}  // namespace
}  // namespace demix
