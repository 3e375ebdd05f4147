#include "batch/entropy.hpp"

#include <algorithm>

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

Index first_of(Index stretch, Index frames, Index stretches) { return stretch * frames / stretches; }

}  // namespace

Vector<double> entropies(const RowMatrix<float>& Y, Index stretches) {
  const Index n = Y.cols();
  Vector<double> sum = Vector<double>::Zero(stretches);
  Eigen::Array<int, 1, Eigen::Dynamic> bin(n);
  for (Index i = 0; i < Y.rows(); ++i) {
    const auto y = Y.row(i).array();
    bin = ((y / (1 + y.abs()) + 1) * (bins / 2.0F)).cast<int>().min(bins - 1);
    Histogram count = Histogram::Zero();
    for (const int k : bin) ++count(k);
    const Lengths length = code_lengths(count, static_cast<double>(n));
    for (Index s = 0; s < stretches; ++s) {
      double of_stretch = 0;
      for (Index t = first_of(s, n, stretches); t < first_of(s + 1, n, stretches); ++t) {
        of_stretch += static_cast<double>(length(bin(t)));
      }
      sum(s) += of_stretch;
    }
  }
  for (Index s = 0; s < stretches; ++s) {
    sum(s) /=
        static_cast<double>(std::max<Index>(1, first_of(s + 1, n, stretches) - first_of(s, n, stretches)));
  }
  return sum;
}

}  // namespace demix
