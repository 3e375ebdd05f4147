#include "demix/crosstalk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blocks.hpp"

namespace demix {

Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight, std::int64_t samples) {
  const Index d = Y.rows();
  const auto n = static_cast<double>(Y.cols());
  const auto zero = [&] { return Matrix<double>(Matrix<double>::Zero(d, d)); };

  // m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2],  D_i = E[w y_i^2]
  Matrix<double> m0 = zero(), m1 = zero(), m2 = zero(), k = zero();
  Vector<double> D = Vector<double>::Zero(d);
  Matrix<double> weighted, sloped;
  Vector<double> length, w, slope;
  for_each_centred_block<double>(Y, Vector<double>::Zero(d), [&](Matrix<double>& S, Index) {
    squared_lengths(S, length);
    w = length.unaryExpr([&](double a) { return weight_value(weight, a); });
    slope = length.unaryExpr([&](double a) { return weight_derivative(weight, a); });
    S = S.array().square();  // y_i^2
    weigh(S, w.data(), weighted);
    weigh(S, slope.data(), sloped);
    D += weighted.colwise().sum().transpose();
    add_scatter(S, S, m0);
    add_scatter(weighted, S, m1);
    add_scatter(weighted, weighted, m2);
    add_scatter(sloped, S, k);
  });
  for (Matrix<double>* m : {&m0, &m1, &m2, &k}) {
    *m = Matrix<double>(m->selfadjointView<Eigen::Lower>()) / n;
  }
  D /= n;

  const double count = samples > 0 ? static_cast<double>(samples) : n;
  Matrix<double> deviation = Matrix<double>::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (i == j) continue;
      const double centre = D(i) + 2 * k(i, j);
      const double variance = m2(i, j) - 2 * centre * m1(i, j) + centre * centre * m0(i, j);
      const double gap = std::max(std::abs(D(i) - D(j)), std::numeric_limits<double>::min());
      deviation(i, j) = std::sqrt(std::max(variance, 0.0) / count) / gap;
    }
  }
  return deviation;
}

}  // namespace demix
