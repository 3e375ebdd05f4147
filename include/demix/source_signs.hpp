#pragma once

#include "demix/types.hpp"

/// Which outputs are super- and which sub-Gaussian, judged while they come:
///
///   k_i = sign(E[sech^2 y_i] E[y_i^2] - E[y_i tanh y_i]),   1 for super-, -1 for sub-Gaussian
///
/// (Lee, Girolami, Sejnowski, Neural Computation 11, 1999). E[y_i^2] matters: outputs a few percent too
/// strong would all look sub-Gaussian without it.
namespace demix {

class SourceSigns {
 public:
  explicit SourceSigns(Index outputs) : k(Vector<double>::Ones(outputs)), sech2_(k), power_(k), slope_(k) {}

  /// One frame more, with weight `rate` in the expectations.
  void update(const Vector<double>& y, const Vector<double>& tanh_y, double rate) {
    sech2_.array() += rate * (1 - tanh_y.array().square() - sech2_.array());
    power_.array() += rate * (y.array().square() - power_.array());
    slope_.array() += rate * (y.array() * tanh_y.array() - slope_.array());
    for (Index i = 0; i < k.size(); ++i) k(i) = sech2_(i) * power_(i) >= slope_(i) ? 1 : -1;
  }

  Vector<double> k;

 private:
  Vector<double> sech2_, power_, slope_;  // E[sech^2 y], E[y^2], E[y tanh y]
};

}  // namespace demix
