#include "batch/contrast_sums.hpp"

#include "batch/contrast_kernels.hpp"
#include "core/blocks.hpp"

namespace demix {
namespace {

// One chunk, computed in T.
template <typename T>
void add_chunk(const Chunk& chunk, const Vector<double>& mean, const Multiplier<T>& B, Contrast contrast,
               ContrastSums& sums) {
  Scratch<T> scratch;
  LineMatrix<T>& y = *scratch;
  for_each_centred_block<T>(chunk.frames, mean, chunk.weights, [&](const Block<T>& block) {
    multiply(B, block.x, y, block.ahead);
    add_nonlinearity(contrast, y, y, block.weights, {sums.slope, sums.value, sums.square});
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

ContrastRequest::ContrastRequest(const Vector<double>& mean, const Matrix<double>& B, Contrast contrast,
                                 bool in_float)
    : mean_(mean), contrast_(contrast), in_float_(in_float && fits_float(B)), doubles_(B), floats_(B) {}

ContrastSums ContrastRequest::none() const {
  const Vector<double> zero = Vector<double>::Zero(doubles_.rows);
  return {Matrix<double>::Zero(doubles_.rows, doubles_.channels), zero, zero, zero, 0};
}

void ContrastRequest::add(ContrastSums& sums, const Chunk& chunk) const {
  if (in_float_ && !chunk.weights) {
    add_chunk<float>(chunk, mean_, floats_, contrast_, sums);
  } else {
    add_chunk<double>(chunk, mean_, doubles_, contrast_, sums);
  }
}

}  // namespace demix
