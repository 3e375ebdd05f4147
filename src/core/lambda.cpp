#include "demix/lambda.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace demix {

Vector<double> default_lambda2(Index d) {
  const auto scale = static_cast<double>(d + 2);
  if (d == 1) return Vector<double>::Constant(1, scale);
  return Vector<double>::LinSpaced(d, 0.1 * scale, 1.9 * scale);
}

Vector<double> geometric_lambda2(Index d) {
  const auto scale = static_cast<double>(d + 2);
  if (d == 1) return Vector<double>::Constant(1, scale);
  const auto steps = static_cast<double>(d - 1);
  return Vector<double>::NullaryExpr(
      d, [&](Index i) { return 0.05 * scale * std::pow(100.0, static_cast<double>(i) / steps); });
}

void require_distinct(const Vector<double>& lambda2) {
  for (Index i = 0; i < lambda2.size(); ++i) {
    if (!(lambda2(i) > 0) || !std::isfinite(lambda2(i))) {
      throw std::invalid_argument("lambda: expected positive numbers");
    }
    for (Index j = 0; j < i; ++j) {
      if (lambda2(i) == lambda2(j)) throw std::invalid_argument("lambda: expected distinct numbers");
    }
  }
}

Vector<double> lambda2_from_table(const std::vector<double>& values, LambdaReading reading) {
  Vector<double> lambda2(static_cast<Index>(values.size()));
  for (Index i = 0; i < lambda2.size(); ++i) {
    const double v = values[static_cast<std::size_t>(i)];
    if (!(v > 0) || !std::isfinite(v)) {
      throw std::invalid_argument("lambda: expected positive numbers, got " + std::to_string(v));
    }
    switch (reading) {
      case LambdaReading::inverse_square:
        lambda2(i) = 1 / v;
        break;
      case LambdaReading::direct:
        lambda2(i) = v * v;
        break;
      case LambdaReading::inverse:
        lambda2(i) = 1 / (v * v);
        break;
    }
  }
  return lambda2;
}

LambdaReading lambda_reading_named(std::string_view name) {
  if (name == "inverse-square") return LambdaReading::inverse_square;
  if (name == "direct") return LambdaReading::direct;
  if (name == "inverse") return LambdaReading::inverse;
  throw std::invalid_argument("lambda reading: expected inverse-square, direct or inverse, got '" +
                              std::string(name) + "'");
}

}  // namespace demix
