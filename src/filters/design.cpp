#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>
#include <stdexcept>
#include <string>

#include "demix/filters.hpp"

// Butterworth's analogue filter of order n has its poles on a circle; a pair of them is a section
//   1 / (s^2 + s/Q + 1),  1/Q = 2 sin(pi (2k + 1) / (2n)),
// brought to discrete time by s = (1 - 1/z) / (1 + 1/z) / K with K = tan(pi f / rate).
namespace demix {
namespace {

std::string text(double hz) {
  std::string s = std::to_string(hz);
  s.erase(s.find_last_not_of('0') + 1);
  if (s.ends_with('.')) s.pop_back();
  return s;
}

void require_frequency(const char* what, double hz, double rate) {
  if (hz > 0 && hz < rate / 2) return;
  throw std::invalid_argument(std::string(what) + ": " + text(hz) + " Hz is not between 0 and " +
                              text(rate / 2) + " Hz, half the rate");
}

template <typename Numerator>
Filter butterworth(int order, double hz, double rate, const Numerator& numerator) {
  const double K = std::tan(std::numbers::pi * hz / rate);
  Filter filter;
  for (int k = 0; k < order / 2; ++k) {
    const double damping = 2 * std::sin(std::numbers::pi * (2 * k + 1) / (2 * order));  // 1/Q
    const double a0 = 1 + K * damping + K * K;
    FilterSection s = numerator(K, a0);
    s.a1 = 2 * (K * K - 1) / a0;
    s.a2 = (1 - K * damping + K * K) / a0;
    filter.push_back(s);
  }
  return filter;
}

}  // namespace

Filter butterworth_lowpass(int order, double hz, double rate) {
  require_frequency("lowpass", hz, rate);
  return butterworth(order, hz, rate, [](double K, double a0) {
    return FilterSection{K * K / a0, 2 * K * K / a0, K * K / a0, 0, 0};
  });
}

Filter butterworth_highpass(int order, double hz, double rate) {
  require_frequency("highpass", hz, rate);
  return butterworth(order, hz, rate, [](double, double a0) {
    return FilterSection{1 / a0, -2 / a0, 1 / a0, 0, 0};
  });
}

Filter notch(double hz, double quality, double rate) {
  require_frequency("notch", hz, rate);
  const double w = 2 * std::numbers::pi * hz / rate;
  const double gain = 1 / (1 + std::tan(w / quality / 2));
  return {{gain, -2 * gain * std::cos(w), gain, -2 * gain * std::cos(w), 2 * gain - 1}};
}

Filter design(const FilterOptions& options, double rate) {
  constexpr int order = 4;
  constexpr double quality = 30;
  if (!options.any()) return {};
  if (!(rate > 0)) throw std::invalid_argument("filters need the number of frames per second; give `rate`");
  if (options.highpass > 0 && options.lowpass > 0 && options.highpass >= options.lowpass) {
    throw std::invalid_argument("highpass: " + text(options.highpass) + " Hz is not below the lowpass of " +
                                text(options.lowpass) + " Hz");
  }
  Filter all;
  const auto add = [&](const Filter& filter) { all.insert(all.end(), filter.begin(), filter.end()); };
  if (options.highpass > 0) add(butterworth_highpass(order, options.highpass, rate));
  if (options.lowpass > 0) add(butterworth_lowpass(order, options.lowpass, rate));
  for (const double hz : options.notches) add(notch(hz, quality, rate));
  if (options.decimate > 1) {
    add(butterworth_lowpass(2 * order, 0.4 * rate / static_cast<double>(options.decimate), rate));
  }
  return all;
}

Index settling_frames(const Filter& filter) {
  double slowest = 0;  // radius of the pole that is nearest to the unit circle
  for (const FilterSection& s : filter) {
    const auto root = std::sqrt(std::complex<double>(s.a1 * s.a1 / 4 - s.a2));
    slowest = std::max({slowest, std::abs(-s.a1 / 2 + root), std::abs(-s.a1 / 2 - root)});
  }
  if (slowest == 0) return 8;
  return static_cast<Index>(
             std::ceil(std::min(1e9, std::log(1e-9) / std::log(std::min(slowest, 1 - 1e-9))))) +
         8;
}

}  // namespace demix
