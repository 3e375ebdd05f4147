#include "batch/contrast.hpp"

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

// One chunk, computed in T.
template <typename T>
void add_chunk(const AnyFrames& chunk, const Vector<double>& mean, const double* weights,
               const Multiplier<T>& B, Contrast contrast, ContrastSums& sums) {
  Scratch<T> room;
  LineMatrix<T>& y = *room;
  for_each_centred_block<T>(chunk, mean, weights, [&](const Block<T>& block) {
    multiply(B, block.x, y, block.ahead);
    add_nonlinearity(contrast, y, block.weights, {sums.slope, sums.value, sums.square});
    add_product(y, block.x, sums.product);
    sums.frames += block.total();
  });
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
  const Multiplier<float> in_floats(B);
  const Multiplier<double> in_doubles(B);
  const bool fits = fits_float(B);
  ContrastSums all{Matrix<double>::Zero(B.rows(), B.cols()), zero, zero, zero, 0};
  parallel_sum(X, {}, 0, 0, all, [&](ContrastSums& sums, const AnyFrames& chunk, std::int64_t before) {
    const double* weights = X.weights_from(before);
    if (in_float && !weights && fits) {
      add_chunk<float>(chunk, mean, nullptr, in_floats, contrast, sums);
    } else {
      add_chunk<double>(chunk, mean, weights, in_doubles, contrast, sums);
    }
  });
  return all;
}

}  // namespace demix
