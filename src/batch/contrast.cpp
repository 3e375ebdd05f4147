#include "batch/contrast.hpp"

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

NonlinearitySums nonlinear(Contrast contrast, double* y, Index n, const double* w) {
  switch (contrast) {
    case Contrast::logcosh:
      return logcosh_kernel(y, n, w);
    case Contrast::exp:
      return bell_kernel(y, n, w);
    case Contrast::cube:
      return cube_kernel(y, n, w);
    case Contrast::skew:
      break;
  }
  return square_kernel(y, n, w);
}

// g'(0): what a row of zeros adds to the sum of slopes.
double slope_at_zero(Contrast contrast) {
  return contrast == Contrast::logcosh || contrast == Contrast::exp ? 1 : 0;
}

}  // namespace

void ContrastSums::merge(const ContrastSums& other) {
  product += other.product;
  slope += other.slope;
  value += other.value;
  square += other.square;
  frames += other.frames;
}

ContrastSums contrast_sums(const Recording& X, const Vector<double>& mean, const Matrix<double>& B,
                           Contrast contrast) {
  const Vector<double> zero = Vector<double>::Zero(B.rows());
  ContrastSums all{Matrix<double>::Zero(B.rows(), B.cols()), zero, zero, zero, 0};
  parallel_sum(X, {}, 0, 0, all, [&](ContrastSums& sums, const Frames<double>& chunk, std::int64_t before) {
    Matrix<double> y;
    const auto add = [&](const Matrix<double>& block, Index frames, const double* w) {
      multiply(block, B, y);
      const double empty = w ? 0 : static_cast<double>(y.rows() - frames);
      for (Index i = 0; i < y.cols(); ++i) {
        const NonlinearitySums s = nonlinear(contrast, y.col(i).data(), y.rows(), w);
        sums.slope(i) += s.slope - empty * slope_at_zero(contrast);
        sums.value(i) += s.value;
        sums.square(i) += s.square;
      }
      add_product(y, block, sums.product);
      sums.frames += w ? Eigen::Map<const Vector<double>>(w, frames).sum() : static_cast<double>(frames);
    };
    for_each_centred_block<double>(chunk, mean, X.weights_from(before), add);
  });
  return all;
}

}  // namespace demix
