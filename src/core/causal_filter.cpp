#include "demix/causal_filter.hpp"

#include <cmath>

// Each section in the transposed direct form II: y = b0 x + z1, z1 <- b1 x - a1 y + z2, z2 <- b2 x - a2 y.
namespace demix {

bool FilterSection::is_stable() const {
  const bool are_finite = std::isfinite(b0) && std::isfinite(b1) && std::isfinite(b2);
  return are_finite && std::abs(a2) < 1 && std::abs(a1) < 1 + a2;  // both poles within the unit circle
}

CausalFilter::CausalFilter(Filter filter, Index channels)
    : filter_(std::move(filter)),
      z_(Matrix<double>::Zero(channels, 2 * static_cast<Index>(filter_.size()))) {}

// What each section is in after it has seen the same value for ever.
void CausalFilter::begin(const Eigen::Ref<const Vector<double>>& x) {
  begun_ = true;
  double input = 1;
  for (std::size_t k = 0; k < filter_.size(); ++k) {
    const FilterSection& s = filter_[k];
    const double output = input * (s.b0 + s.b1 + s.b2) / (1 + s.a1 + s.a2);
    const double z2 = s.b2 * input - s.a2 * output;
    const auto at = 2 * static_cast<Index>(k);
    z_.col(at) = (s.b1 * input - s.a1 * output + z2) * x;
    z_.col(at + 1) = z2 * x;
    input = output;
  }
}

void CausalFilter::step(const Eigen::Ref<const Vector<double>>& x, Eigen::Ref<Vector<double>> y) {
  if (!begun_) begin(x);
  if (y.data() != x.data()) y = x;
  for (std::size_t k = 0; k < filter_.size(); ++k) {
    const FilterSection& s = filter_[k];
    double* z1 = z_.col(2 * static_cast<Index>(k)).data();
    double* z2 = z1 + z_.rows();
    for (Index i = 0; i < y.size(); ++i) {
      const double in = y(i), out = s.b0 * in + z1[i];
      z1[i] = s.b1 * in - s.a1 * out + z2[i];
      z2[i] = s.b2 * in - s.a2 * out;
      y(i) = out;
    }
  }
}

void CausalFilter::clear() { begun_ = false; }

}  // namespace demix
