#include "batch/contrast_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/tile.hpp"

namespace demix {
namespace {

using Lane = Lanes<double>::Type;
typedef std::int64_t Bits __attribute__((vector_size(32), may_alias));

DEMIX_INLINE Lane load(const double* p) { return *reinterpret_cast<const Lane*>(p); }
DEMIX_INLINE void store(double* p, Lane v) { *reinterpret_cast<Lane*>(p) = v; }
DEMIX_INLINE double total(Lane v) { return (v[0] + v[1]) + (v[2] + v[3]); }

// e^x for x <= 0, to 2e-15 of it; below -700 that of -700.
//   x = n ln 2 + r,  e^x = 2^n e^r,  |r| <= ln(2) / 2
DEMIX_INLINE Lane exp_of_negative(Lane x) {
  constexpr double lowest = -700;
  constexpr double shift = 0x1.8p52;  // adding it rounds to a whole number, which is in the low bits
  constexpr double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  x = x < lowest ? Lane{} + lowest : x;
  const Lane shifted = x * 0x1.71547652b82fep0 + shift;
  const Lane n = shifted - shift;
  const Lane r = (x - n * ln2_high) - n * ln2_low;
  // (e^r - 1 - r) / r^2 by its Chebyshev interpolant of degree 8
  Lane p = Lane{} + 0x1.287e02a4f292ap-22;
  p = p * r + 0x1.72c7500bfec37p-19;
  p = p * r + 0x1.a019cc6ac2accp-16;
  p = p * r + 0x1.a019ad8d202eep-13;
  p = p * r + 0x1.6c16c172a4884p-10;
  p = p * r + 0x1.1111111c4aaddp-7;
  p = p * r + 0x1.5555555554f1dp-5;
  p = p * r + 0x1.5555555553b79p-3;
  p = p * r + 0x1.0000000000003p-1;
  p = p * r + 1;
  p = p * r + 1;
  const Bits power = (reinterpret_cast<const Bits&>(shifted) << 52) + reinterpret_cast<const Bits&>(p);
  return reinterpret_cast<const Lane&>(power);
}

DEMIX_INLINE Lane magnitude(Lane x) {
  const Bits b = reinterpret_cast<const Bits&>(x) & INT64_MAX;
  return reinterpret_cast<const Lane&>(b);
}
DEMIX_INLINE Lane with_sign_of(Lane x, Lane sign) {
  const Bits b = reinterpret_cast<const Bits&>(x) | (reinterpret_cast<const Bits&>(sign) & INT64_MIN);
  return reinterpret_cast<const Lane&>(b);
}

// With e = exp(-2 |y|):  tanh |y| = (1 - e) / (1 + e),  log cosh y = |y| + log(1 + e) - log 2. The logarithms
// of some values are that of their product, if all count the same.
template <bool weighted>
DEMIX_INLINE NonlinearitySums logcosh_body(double* y, Index n, const double* w) {
  constexpr double log2 = 0x1.62e42fefa39efp-1;
  constexpr Index some = 4 * 512;  // 2^512 is still a number
  Lane squares = {};
  Lane slopes = {};
  Lane sizes = {};
  double logs = 0;
  for (Index start = 0; start < n; start += some) {
    Lane product = Lane{} + 1;
    for (Index t = start; t < std::min(n, start + some); t += 4) {
      const Lane v = load(y + t);
      const Lane size = magnitude(v);
      const Lane e = exp_of_negative(-2 * size);
      const Lane g = with_sign_of((1 - e) / (1 + e), v);
      const Lane u = weighted ? load(w + t) : Lane{} + 1;
      if (weighted) {
        for (Index q = 0; q < 4; ++q) logs += u[q] * (std::log1p(e[q]) - log2);
      } else {
        product *= 1 + e;
      }
      sizes += u * size;
      squares += u * v * v;
      slopes += u * (1 - g * g);
      store(y + t, u * g);
    }
    if (!weighted) {
      for (Index q = 0; q < 4; ++q) logs += std::log(product[q]);
    }
  }
  if (!weighted) logs -= static_cast<double>(n) * log2;
  return {total(slopes), total(sizes) + logs, total(squares)};
}

template <bool weighted>
DEMIX_INLINE NonlinearitySums bell_body(double* y, Index n, const double* w) {
  Lane squares = {};
  Lane slopes = {};
  Lane values = {};
  for (Index t = 0; t < n; t += 4) {
    const Lane u = weighted ? load(w + t) : Lane{} + 1;
    const Lane v = load(y + t);
    const Lane square = v * v;
    const Lane bell = exp_of_negative(-0.5 * square);
    store(y + t, u * v * bell);
    squares += u * square;
    slopes += u * (1 - square) * bell;
    values += u * (1 - bell);
  }
  return {total(slopes), total(values), total(squares)};
}

template <bool weighted>
DEMIX_INLINE NonlinearitySums cube_body(double* y, Index n, const double* w) {
  Lane squares = {};
  Lane fourths = {};
  for (Index t = 0; t < n; t += 4) {
    const Lane u = weighted ? load(w + t) : Lane{} + 1;
    const Lane v = load(y + t);
    const Lane square = u * v * v;
    store(y + t, v * square);
    squares += square;
    fourths += square * v * v;
  }
  return {3 * total(squares), total(fourths) / 4, total(squares)};
}

template <bool weighted>
DEMIX_INLINE NonlinearitySums square_body(double* y, Index n, const double* w) {
  Lane firsts = {};
  Lane squares = {};
  Lane cubes = {};
  for (Index t = 0; t < n; t += 4) {
    const Lane u = weighted ? load(w + t) : Lane{} + 1;
    const Lane v = load(y + t);
    const Lane square = u * v * v;
    store(y + t, square);
    firsts += u * v;
    squares += square;
    cubes += square * v;
  }
  return {2 * total(firsts), total(cubes) / 3, total(squares)};
}

}  // namespace

DEMIX_CLONES NonlinearitySums logcosh_kernel(double* y, Index n, const double* w) {
  return w ? logcosh_body<true>(y, n, w) : logcosh_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums bell_kernel(double* y, Index n, const double* w) {
  return w ? bell_body<true>(y, n, w) : bell_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums cube_kernel(double* y, Index n, const double* w) {
  return w ? cube_body<true>(y, n, w) : cube_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums square_kernel(double* y, Index n, const double* w) {
  return w ? square_body<true>(y, n, w) : square_body<false>(y, n, w);
}

}  // namespace demix
