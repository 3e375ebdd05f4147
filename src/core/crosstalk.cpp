#include "demix/crosstalk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace demix {

Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight, std::int64_t samples) {
  const Index d = Y.rows();
  const auto n = static_cast<double>(Y.cols());
  const Matrix<double> S = Y.array().square();  // y_i^2
  Vector<double> w = S.colwise().sum().transpose();
  const Vector<double> slope = w.unaryExpr([&](double a) { return weight_derivative(weight, a); });
  w = w.unaryExpr([&](double a) { return weight_value(weight, a); });

  // m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2],  D_i = E[w y_i^2]
  const Matrix<double> St = S.transpose() / n;
  const Matrix<double> m0 = S * St;
  const Matrix<double> m1 = S * (w.asDiagonal() * St);
  const Matrix<double> m2 = S * (w.array().square().matrix().asDiagonal() * St);
  const Matrix<double> k = S * (slope.asDiagonal() * St);
  const Vector<double> D = S * w / n;

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
