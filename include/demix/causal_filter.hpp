#pragma once

#include <vector>

#include "demix/types.hpp"

namespace demix {

/// H(z) = (b0 + b1/z + b2/z^2) / (1 + a1/z + a2/z^2)
struct FilterSection {
  double b0 = 1, b1 = 0, b2 = 0, a1 = 0, a2 = 0;
  bool is_stable() const;
  bool operator==(const FilterSection&) const = default;

  template <typename Archive>
  void fields(Archive& a) {
    a(b0, b1, b2, a1, a2);
  }
};
using Filter = std::vector<FilterSection>;  ///< a cascade of them

/// A filter that runs along with the frames: y[t] from x[t], x[t-1], ...
class CausalFilter {
 public:
  CausalFilter(Filter filter, Index channels);

  /// Before the first frame it goes on as if that one had been there for ever. x and y may be the same.
  /// Allocates nothing.
  void step(const Eigen::Ref<const Vector<double>>& x, Eigen::Ref<Vector<double>> y);
  void clear();  ///< the next frame is the first

  template <typename Archive>
  void fields(Archive& a) {
    a(begun_, z_);
  }

 private:
  void begin(const Eigen::Ref<const Vector<double>>& x);

  Filter filter_;
  Matrix<double> z_;  // two columns per section
  bool begun_ = false;
};

}  // namespace demix
