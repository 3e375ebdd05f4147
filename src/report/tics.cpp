#include "report/tics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace demix::report {
namespace {

struct Number {
  double value;
  std::string text, shown;  // in gnuplot's words, and as it is read
};

constexpr double slack = 1e-9;  // of a step: what is at the end of an axis is on it

double power(double k) { return std::pow(10, k); }

Number power_of_ten(int k) { return {power(k), fmt::format("10^{{{}}}", k), fmt::format("10{}", k)}; }

// A multiple of 10^k; in full if it is of a common size.
Number multiple(double n, int k, double largest) {
  const double value = n * power(k);
  if (n == 0) return {0, "0", "0"};
  if (k >= -4 && largest < 1e5) {
    const std::string text = fmt::format("{:.{}f}", value, std::max(0, -k));
    return {value, text, text};
  }
  const int exponent = static_cast<int>(std::floor(std::log10(largest) + slack));
  const std::string factor = fmt::format("{:g}", n * power(k - exponent));
  return {value, fmt::format("{}·10^{{{}}}", factor, exponent), fmt::format("{}·10{}", factor, exponent)};
}

double widest(const std::vector<Number>& numbers, double points) {
  double width = 0;
  for (const Number& n : numbers) width = std::max(width, gnuplot::width_of(n.shown, points));
  return width;
}

// Where it stands on the axis, in pixels.
double place(const Axis& axis, double v) {
  const auto [lo, hi] = axis.range;
  return axis.length * (axis.log ? std::log(v / lo) / std::log(hi / lo) : (v - lo) / (hi - lo));
}

// Not too many in all, and none touches the next.
bool fits(const std::vector<Number>& numbers, const Axis& axis, double points) {
  const double each = axis.across ? widest(numbers, points) + points : 2.2 * points;
  for (std::size_t k = 1; k < numbers.size(); ++k) {
    const Number& a = numbers[k - 1];
    const Number& b = numbers[k];
    const double apart =
        axis.across
            ? (gnuplot::width_of(a.shown, points) + gnuplot::width_of(b.shown, points)) / 2 + points / 2
            : 1.6 * points;
    if (place(axis, b.value) - place(axis, a.value) < apart) return false;
  }
  return static_cast<double>(numbers.size()) * each <=
         axis.length + each;  // half of the first and last stand out
}

std::vector<Number> linear_numbers(const Axis& axis, double points) {
  const auto [lo, hi] = axis.range;
  const double largest = std::max(std::abs(lo), std::abs(hi));
  for (int k = static_cast<int>(std::floor(std::log10(hi - lo))) - 1;; ++k) {
    for (const int d : {1, 2, 5}) {
      const double step = d * power(k);
      std::vector<Number> out;
      const auto first = static_cast<long long>(std::ceil(lo / step - slack));
      const auto last = static_cast<long long>(std::floor(hi / step + slack));
      for (long long n = first; n <= last; ++n)
        out.push_back(multiple(static_cast<double>(n * d), k, largest));
      if (out.size() <= 6 && fits(out, axis, points)) return out;
    }
  }
}

// The powers of ten on the axis that are multiples of `every`.
std::vector<Number> powers(const AxisRange& r, int every) {
  std::vector<Number> out;
  for (int k = static_cast<int>(std::ceil(std::log10(r.lo) - slack)); k <= std::log10(r.hi) + slack; ++k) {
    if (k % every == 0) out.push_back(power_of_ten(k));
  }
  return out;
}

std::vector<Number> with_digits(const AxisRange& r, const std::vector<int>& digits) {
  std::vector<Number> out;
  for (int k = static_cast<int>(std::floor(std::log10(r.lo))); k <= std::log10(r.hi); ++k) {
    for (const int d : digits) {
      const double v = d * power(k);
      if (v >= r.lo * (1 - slack) && v <= r.hi * (1 + slack)) out.push_back(multiple(d, k, v));
    }
  }
  return out;
}

std::vector<Number> log_numbers(const Axis& axis, double points) {
  if (powers(axis.range, 1).size() >= 2) {
    for (int every = 1;; ++every) {
      std::vector<Number> out = powers(axis.range, every);
      if (out.size() <= 9 && fits(out, axis, points)) return out;
    }
  }
  for (const std::vector<int>& digits : {std::vector{1, 2, 3, 5, 7}, {1, 2, 5}, {1, 3}, {1, 5}}) {
    std::vector<Number> out = with_digits(axis.range, digits);
    if (out.size() <= 6 && fits(out, axis, points)) return out;
  }
  return with_digits(axis.range, {1, 5});
}

// Without numbers: 2, 3, ... 9 in each decade, or the powers of ten where there are many.
std::vector<Number> between(const AxisRange& r) {
  return r.hi / r.lo > 1e8 ? powers(r, 1) : with_digits(r, {2, 3, 4, 5, 6, 7, 8, 9});
}

}  // namespace

Tics tics_of(const Axis& axis, double points) {
  const std::vector<Number> numbers = axis.log ? log_numbers(axis, points) : linear_numbers(axis, points);
  Tics out;
  out.width = widest(numbers, points);
  for (const Number& n : numbers) {
    out.text += fmt::format("{}'{}' {:.10g}", out.text.empty() ? "" : ", ", n.text, n.value);
  }
  if (axis.log) {
    for (const Number& n : between(axis.range)) out.between += fmt::format(", '' {:.10g} 1", n.value);
  }
  return out;
}

}  // namespace demix::report
