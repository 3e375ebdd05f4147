#include "batch/entropy.hpp"

#include <algorithm>
#include <cstdint>

namespace demix {
namespace {

constexpr int bins = 2048;
using Histogram = Eigen::Array<double, bins, 1>;
using Lengths = Eigen::Array<float, bins, 1>;

// Mean of each value and its neighbours, so many on either side; nothing lies beyond the ends.
void box_filter(Histogram& p, int reach) {
  const Histogram from = p;
  double sum = from.head(reach).sum();
  for (int k = 0; k < bins; ++k) {
    if (k + reach < bins) sum += from(k + reach);
    if (k > reach) sum -= from(k - reach - 1);
    p(k) = sum / (2 * reach + 1);
  }
}

// - log of the density of y in each bin of u. du/dy = (1 - |u|)^2.
Lengths code_lengths(Histogram count, double n) {
  for (int k = 0; k < 3; ++k) box_filter(count, 10);  // near a Gaussian of deviation 10.5 bins
  static const Lengths of_u = -2 * (1 - Lengths::LinSpaced(-1 + 1.0F / bins, 1 - 1.0F / bins).abs()).log();
  return of_u - ((count.max(0) / n + 1e-12) * (bins / 2)).cast<float>().log();
}

}  // namespace

Matrix<double> entropies(const Matrix<float>& Y, Index stretches) {
  const Index n = Y.cols();
  const Index outputs = Y.rows();
  const Matrix<std::uint16_t> bin = ((Y.array() / (1 + Y.array().abs()) + 1) * (bins / 2.0F))
                                        .cast<int>()
                                        .min(bins - 1)
                                        .cast<std::uint16_t>()
                                        .matrix();
  Matrix<int> count = Matrix<int>::Zero(bins, outputs);
  for (Index t = 0; t < n; ++t) {
    for (Index i = 0; i < outputs; ++i) ++count(bin(i, t), i);
  }
  Matrix<float> length(bins, outputs);
  for (Index i = 0; i < outputs; ++i)
    length.col(i) = code_lengths(count.col(i).cast<double>(), static_cast<double>(n));
  Matrix<double> mean = Matrix<double>::Zero(stretches, outputs);
  Vector<double> sum(outputs);
  for (Index s = 0; s < stretches; ++s) {
    const Index first = s * n / stretches;
    const Index end = (s + 1) * n / stretches;
    sum.setZero();
    for (Index t = first; t < end; ++t) {
      for (Index i = 0; i < outputs; ++i) sum(i) += static_cast<double>(length(bin(i, t), i));
    }
    mean.row(s) = sum.transpose() / static_cast<double>(std::max<Index>(1, end - first));
  }
  return mean;
}

}  // namespace demix
