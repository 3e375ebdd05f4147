#include "batch/contrast_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "core/tile.hpp"

namespace demix {
namespace {

// A lane of T, and the integers that have its bits.
template <typename T>
using Lane = typename Lanes<T>::Type;
template <typename T>
constexpr Index width = 32 / sizeof(T);
typedef std::int64_t Bits64 __attribute__((vector_size(32), may_alias));
typedef std::int32_t Bits32 __attribute__((vector_size(32), may_alias));
DEMIX_INLINE Bits64& bits(Lane<double>& v) { return reinterpret_cast<Bits64&>(v); }
DEMIX_INLINE Bits32& bits(Lane<float>& v) { return reinterpret_cast<Bits32&>(v); }

template <typename T>
DEMIX_INLINE Lane<T> load(const T* p) {
  return *reinterpret_cast<const Lane<T>*>(p);
}
template <typename T>
DEMIX_INLINE void store(T* p, Lane<T> v) {
  *reinterpret_cast<Lane<T>*>(p) = v;
}

// e^x for x <= 0, to 2e-15 of it; below -700 that of -700.
//   x = n ln 2 + r,  e^x = 2^n e^r,  |r| <= ln(2) / 2
DEMIX_INLINE Lane<double> exp_of_negative(Lane<double> x) {
  constexpr double shift = 0x1.8p52;  // adding it rounds to a whole number, which is in the low bits
  x = x < -700.0 ? Lane<double>{} - 700.0 : x;
  Lane<double> shifted = x * 0x1.71547652b82fep0 + shift;
  const Lane<double> n = shifted - shift;
  const Lane<double> r = (x - n * 0x1.62e42fefa38p-1) - n * 0x1.ef35793c7673p-45;
  // (e^r - 1 - r) / r^2 by its Chebyshev interpolant of degree 8
  Lane<double> p = Lane<double>{} + 0x1.287e02a4f292ap-22;
  p = p * r + 0x1.72c7500bfec37p-19;
  p = p * r + 0x1.a019cc6ac2accp-16;
  p = p * r + 0x1.a019ad8d202eep-13;
  p = p * r + 0x1.6c16c172a4884p-10;
  p = p * r + 0x1.1111111c4aaddp-7;
  p = p * r + 0x1.5555555554f1dp-5;
  p = p * r + 0x1.5555555553b79p-3;
  p = p * r + 0x1.0000000000003p-1;
  p = p * r + 1.0;
  p = p * r + 1.0;
  bits(p) += bits(shifted) << 52;
  return p;
}

// The same to 2e-7; below -80 that of -80.
DEMIX_INLINE Lane<float> exp_of_negative(Lane<float> x) {
  constexpr float shift = 0x1.8p23F;
  x = x < -80.0F ? Lane<float>{} - 80.0F : x;
  Lane<float> shifted = x * 0x1.715476p0F + shift;
  const Lane<float> n = shifted - shift;
  const Lane<float> r = (x - n * 0x1.62e4p-1F) - n * 0x1.7f7d1cp-20F;
  Lane<float> p = Lane<float>{} + 1.0F / 720;
  p = p * r + 1.0F / 120;
  p = p * r + 1.0F / 24;
  p = p * r + 1.0F / 6;
  p = p * r + 0.5F;
  p = p * r + 1.0F;
  p = p * r + 1.0F;
  bits(p) += bits(shifted) << 23;
  return p;
}

template <typename V>
DEMIX_INLINE V magnitude(V x) {
  return x < 0 ? -x : x;
}
template <typename V>
DEMIX_INLINE V with_sign_of(V x, V sign) {
  return sign < 0 ? -x : x;
}

// With e = exp(-2 |y|):  tanh |y| = (1 - e) / (1 + e),  log cosh y = |y| + log(1 + e) - log 2. The logarithms
// of some values are that of their product, if all count the same.
template <bool weighted, typename T>
DEMIX_INLINE NonlinearitySums logcosh_body(T* y, Index n, const T* w) {
  using V = Lane<T>;
  constexpr double log2 = 0x1.62e42fefa39efp-1;
  constexpr Index some = width<T> * (sizeof(T) == 8 ? 240 : 96);  // 2 to that power is still a number
  V squares = {};
  V slopes = {};
  V sizes = {};
  double logs = 0;
  for (Index start = 0; start < n; start += some) {
    V product = V{} + 1;
    for (Index t = start; t < std::min(n, start + some); t += width<T>) {
      const V v = load(y + t);
      const V size = magnitude(v);
      const V e = exp_of_negative(-2 * size);
      const V g = with_sign_of((1 - e) / (1 + e), v);
      const V u = weighted ? load(w + t) : V{} + 1;
      if (weighted) {
        for (Index q = 0; q < width<T>; ++q) {
          logs += static_cast<double>(u[q]) * (std::log1p(static_cast<double>(e[q])) - log2);
        }
      } else {
        product *= 1 + e;
      }
      sizes += u * size;
      squares += u * v * v;
      slopes += u * (1 - g * g);
      store(y + t, u * g);
    }
    if (!weighted) {
      double all = 1;
      for (Index q = 0; q < width<T>; ++q) all *= static_cast<double>(product[q]);
      logs += std::log(all);
    }
  }
  if (!weighted) logs -= static_cast<double>(n) * log2;
  return {total(slopes), total(sizes) + logs, total(squares)};
}

template <bool weighted, typename T>
DEMIX_INLINE NonlinearitySums bell_body(T* y, Index n, const T* w) {
  using V = Lane<T>;
  V squares = {};
  V slopes = {};
  V values = {};
  for (Index t = 0; t < n; t += width<T>) {
    const V u = weighted ? load(w + t) : V{} + 1;
    const V v = load(y + t);
    const V square = v * v;
    const V bell = exp_of_negative(-square / 2);
    store(y + t, u * v * bell);
    squares += u * square;
    slopes += u * (1 - square) * bell;
    values += u * (1 - bell);
  }
  return {total(slopes), total(values), total(squares)};
}

template <bool weighted, typename T>
DEMIX_INLINE NonlinearitySums cube_body(T* y, Index n, const T* w) {
  using V = Lane<T>;
  V squares = {};
  V fourths = {};
  for (Index t = 0; t < n; t += width<T>) {
    const V u = weighted ? load(w + t) : V{} + 1;
    const V v = load(y + t);
    const V square = u * v * v;
    store(y + t, v * square);
    squares += square;
    fourths += square * v * v;
  }
  return {3 * total(squares), total(fourths) / 4, total(squares)};
}

template <bool weighted, typename T>
DEMIX_INLINE NonlinearitySums square_body(T* y, Index n, const T* w) {
  using V = Lane<T>;
  V firsts = {};
  V squares = {};
  V cubes = {};
  for (Index t = 0; t < n; t += width<T>) {
    const V u = weighted ? load(w + t) : V{} + 1;
    const V v = load(y + t);
    const V square = u * v * v;
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
DEMIX_CLONES NonlinearitySums logcosh_kernel(float* y, Index n) {
  return logcosh_body<false, float>(y, n, nullptr);
}
DEMIX_CLONES NonlinearitySums bell_kernel(double* y, Index n, const double* w) {
  return w ? bell_body<true>(y, n, w) : bell_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums bell_kernel(float* y, Index n) {
  return bell_body<false, float>(y, n, nullptr);
}
DEMIX_CLONES NonlinearitySums cube_kernel(double* y, Index n, const double* w) {
  return w ? cube_body<true>(y, n, w) : cube_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums cube_kernel(float* y, Index n) {
  return cube_body<false, float>(y, n, nullptr);
}
DEMIX_CLONES NonlinearitySums square_kernel(double* y, Index n, const double* w) {
  return w ? square_body<true>(y, n, w) : square_body<false>(y, n, w);
}
DEMIX_CLONES NonlinearitySums square_kernel(float* y, Index n) {
  return square_body<false, float>(y, n, nullptr);
}

}  // namespace demix
