#include "demix/weight.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>
#include <utility>

namespace demix {
namespace {
constexpr std::array<std::pair<Weight, std::string_view>, 5> names{{{Weight::square, "square"},
                                                                    {Weight::norm, "norm"},
                                                                    {Weight::log, "log"},
                                                                    {Weight::reciprocal, "reciprocal"},
                                                                    {Weight::fourth, "fourth"}}};
}

double weight_value(Weight weight, double a) {
  switch (weight) {
    case Weight::square:
      return a;
    case Weight::norm:
      return std::sqrt(a);
    case Weight::log:
      return std::log1p(a);
    case Weight::reciprocal:
      return 1 / (1 + a);
    case Weight::fourth:
      return a * a;
  }
  return a;
}

double weight_derivative(Weight weight, double a) {
  switch (weight) {
    case Weight::square:
      return 1;
    case Weight::norm:
      return 0.5 / std::sqrt(a + 1e-300);
    case Weight::log:
      return 1 / (1 + a);
    case Weight::reciprocal:
      return -1 / ((1 + a) * (1 + a));
    case Weight::fourth:
      return 2 * a;
  }
  return 1;
}

// By the trapezoidal rule in u = log a, where the density of a falls off on both sides.
double gaussian_weight(Weight weight, Index d) {
  const auto n = static_cast<double>(d);
  double sum = 0;
  double norm = 0;
  for (int k = 0; k <= 4000; ++k) {
    const double u = std::log(n) + (k - 2000) * 0.005;
    const double a = std::exp(u);
    const double density = std::exp(n / 2 * (u - std::log(n)) - (a - n) / 2);  // of u, up to a factor
    sum += weight_value(weight, a) * a * density;
    norm += density;
  }
  return sum / norm / n;
}

std::string_view weight_name(Weight weight) {
  for (const auto& [value, name] : names) {
    if (value == weight) return name;
  }
  return "?";
}

Weight weight_named(std::string_view name) {
  std::string known;
  for (const auto& [value, candidate] : names) {
    if (candidate == name) return value;
    known += known.empty() ? "" : ", ";
    known += candidate;
  }
  throw std::invalid_argument("weight: expected one of " + known + ", got '" + std::string(name) + "'");
}

std::vector<std::string_view> weight_names() {
  std::vector<std::string_view> all;
  for (const auto& entry : names) all.push_back(entry.second);
  return all;
}

}  // namespace demix
