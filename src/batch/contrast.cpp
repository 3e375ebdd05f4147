#include "batch/contrast.hpp"

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

template <typename T, typename... Weights>
NonlinearitySums nonlinear(Contrast contrast, T* y, Index n, Weights... w) {
  switch (contrast) {
    case Contrast::logcosh:
      return logcosh_kernel(y, n, w...);
    case Contrast::exp:
      return bell_kernel(y, n, w...);
    case Contrast::cube:
      return cube_kernel(y, n, w...);
    case Contrast::skew:
      break;
  }
  return square_kernel(y, n, w...);
}

// g'(0): what a row of zeros adds to the sum of slopes.
double slope_at_zero(Contrast contrast) {
  return contrast == Contrast::logcosh || contrast == Contrast::exp ? 1 : 0;
}

// One chunk, computed in T.
template <typename T>
void add_chunk(const AnyFrames& chunk, const Vector<double>& mean, const double* weights, const Matrix<T>& B,
               Contrast contrast, ContrastSums& sums) {
  Scratch<T> room;
  Matrix<T>& y = *room;
  const auto add = [&](const Matrix<T>& block, Index frames, const double* w) {
    multiply(block, B, y);
    const double empty = w ? 0 : static_cast<double>(y.rows() - frames);
    for (Index i = 0; i < y.cols(); ++i) {
      NonlinearitySums s;
      if constexpr (std::is_same_v<T, double>) {
        s = nonlinear(contrast, y.col(i).data(), y.rows(), w);
      } else {
        s = nonlinear(contrast, y.col(i).data(), y.rows());
      }
      sums.slope(i) += s.slope - empty * slope_at_zero(contrast);
      sums.value(i) += s.value;
      sums.square(i) += s.square;
    }
    add_product(y, block, sums.product);
    sums.frames += w ? Eigen::Map<const Vector<double>>(w, frames).sum() : static_cast<double>(frames);
  };
  for_each_centred_block<T>(chunk, mean, weights, add);
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
                           Contrast contrast, bool in_float) {
  const Vector<double> zero = Vector<double>::Zero(B.rows());
  const Matrix<float> Bf = B.cast<float>();
  const bool fits = fits_float(B);
  ContrastSums all{Matrix<double>::Zero(B.rows(), B.cols()), zero, zero, zero, 0};
  parallel_sum(X, {}, 0, 0, all, [&](ContrastSums& sums, const AnyFrames& chunk, std::int64_t before) {
    const double* weights = X.weights_from(before);
    if (in_float && !weights && fits) {
      add_chunk<float>(chunk, mean, nullptr, Bf, contrast, sums);
    } else {
      add_chunk<double>(chunk, mean, weights, B, contrast, sums);
    }
  });
  return all;
}

}  // namespace demix
