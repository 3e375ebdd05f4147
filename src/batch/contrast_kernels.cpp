#include "batch/contrast_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/tile.hpp"

namespace demix {
namespace {

// The integers that have the bits of a lane.
typedef std::int64_t Bits64 __attribute__((vector_size(32), may_alias));
typedef std::int32_t Bits32 __attribute__((vector_size(32), may_alias));
DEMIX_INLINE Bits64& bits(Lane<double>& v) { return reinterpret_cast<Bits64&>(v); }
DEMIX_INLINE Bits32& bits(Lane<float>& v) { return reinterpret_cast<Bits32&>(v); }

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

DEMIX_INLINE Bits64 sign_bit(Lane<double>) { return Bits64{} + std::numeric_limits<std::int64_t>::min(); }
DEMIX_INLINE Bits32 sign_bit(Lane<float>) { return Bits32{} + std::numeric_limits<std::int32_t>::min(); }
template <typename V>
DEMIX_INLINE V magnitude(V x) {
  bits(x) &= ~sign_bit(x);
  return x;
}
// Of x that is not negative.
template <typename V>
DEMIX_INLINE V with_sign_of(V x, V sign) {
  bits(x) |= bits(sign) & sign_bit(x);
  return x;
}

// A nonlinearity: add(v, u) takes a lane of outputs, each of weight u, gives u g(v), and sums up u g'(v), u
// G(v) and u v^2.

// With e = exp(-2 |y|):  tanh |y| = (1 - e) / (1 + e),  log cosh y = |y| + log(1 + e) - log 2. The logarithms
// of some values are that of their product, if all count the same.
template <typename T, bool weighted>
struct LogCosh {
  using V = Lane<T>;
  static constexpr double log2 = 0x1.62e42fefa39efp-1;
  V slopes = {}, sizes = {}, squares = {};
  V product = V{} + 1;
  double logs[width<T>] = {};  // if weighted

  DEMIX_INLINE V add(V v, V u) {
    const V size = magnitude(v);
    const V e = exp_of_negative(-2 * size);
    const V g = with_sign_of((1 - e) / (1 + e), v);
    if (weighted) {
      for (Index q = 0; q < width<T>; ++q)
        logs[q] += static_cast<double>(u[q]) * (std::log1p(static_cast<double>(e[q])) - log2);
    } else {
      product *= (1 + e) / 2;
    }
    sizes += u * size;
    squares += u * v * v;
    slopes += u * (1 - g * g);
    return u * g;
  }
  double value(Index q) const {
    return static_cast<double>(sizes[q]) + (weighted ? logs[q] : std::log(static_cast<double>(product[q])));
  }
  double slope(Index q) const { return static_cast<double>(slopes[q]); }
  double square(Index q) const { return static_cast<double>(squares[q]); }
};

template <typename T, bool>
struct Bell {
  using V = Lane<T>;
  V slopes = {}, values = {}, squares = {};

  DEMIX_INLINE V add(V v, V u) {
    const V square = v * v;
    const V bell = exp_of_negative(-square / 2);
    squares += u * square;
    slopes += u * (1 - square) * bell;
    values += u * (1 - bell);
    return u * v * bell;
  }
  double value(Index q) const { return static_cast<double>(values[q]); }
  double slope(Index q) const { return static_cast<double>(slopes[q]); }
  double square(Index q) const { return static_cast<double>(squares[q]); }
};

template <typename T, bool>
struct Cube {
  using V = Lane<T>;
  V squares = {}, fourths = {};

  DEMIX_INLINE V add(V v, V u) {
    const V square = u * v * v;
    squares += square;
    fourths += square * v * v;
    return v * square;
  }
  double value(Index q) const { return static_cast<double>(fourths[q]) / 4; }
  double slope(Index q) const { return 3 * static_cast<double>(squares[q]); }
  double square(Index q) const { return static_cast<double>(squares[q]); }
};

template <typename T, bool>
struct Square {
  using V = Lane<T>;
  V firsts = {}, squares = {}, cubes = {};

  DEMIX_INLINE V add(V v, V u) {
    const V square = u * v * v;
    firsts += u * v;
    squares += square;
    cubes += square * v;
    return square;
  }
  double value(Index q) const { return static_cast<double>(cubes[q]) / 3; }
  double slope(Index q) const { return 2 * static_cast<double>(firsts[q]); }
  double square(Index q) const { return static_cast<double>(squares[q]); }
};

struct Outputs {
  Index stride, channels, frames;
  const double* w;
  double *slope, *value, *square;
};

template <template <typename, bool> class Kind, bool weighted, typename T>
DEMIX_INLINE void each_lane(T* y, const Outputs& o) {
  constexpr Index some = 64;  // frames: 2 to that power is still a float
  for (Index i = 0; i < o.channels; i += width<T>) {
    for (Index start = 0; start < o.frames; start += some) {
      Kind<T, weighted> kind;
      for (Index t = start; t < std::min(o.frames, start + some); ++t) {
        T* at = y + t * o.stride + i;
        store(at, kind.add(load(at), Lane<T>{} + (weighted ? static_cast<T>(o.w[t]) : T{1})));
      }
      for (Index q = 0; q < std::min(width<T>, o.channels - i); ++q) {
        o.slope[i + q] += kind.slope(q);
        o.value[i + q] += kind.value(q);
        o.square[i + q] += kind.square(q);
      }
    }
  }
}
template <template <typename, bool> class Kind>
DEMIX_INLINE void body(double* y, const Outputs& o) {
  o.w ? each_lane<Kind, true>(y, o) : each_lane<Kind, false>(y, o);
}
template <template <typename, bool> class Kind>
DEMIX_INLINE void body(float* y, const Outputs& o) {
  each_lane<Kind, false>(y, o);
}

DEMIX_CLONES void log_cosh(double* y, const Outputs& o) { body<LogCosh>(y, o); }
DEMIX_CLONES void log_cosh(float* y, const Outputs& o) { body<LogCosh>(y, o); }
DEMIX_CLONES void bell(double* y, const Outputs& o) { body<Bell>(y, o); }
DEMIX_CLONES void bell(float* y, const Outputs& o) { body<Bell>(y, o); }
DEMIX_CLONES void cube(double* y, const Outputs& o) { body<Cube>(y, o); }
DEMIX_CLONES void cube(float* y, const Outputs& o) { body<Cube>(y, o); }
DEMIX_CLONES void square(double* y, const Outputs& o) { body<Square>(y, o); }
DEMIX_CLONES void square(float* y, const Outputs& o) { body<Square>(y, o); }

}  // namespace

template <typename T>
void add_nonlinearity(Contrast contrast, LineMatrix<T>& Y, const double* weights, NonlinearitySums sums) {
  const Outputs o{Y.rows(),          sums.slope.size(), Y.cols(),          weights,
                  sums.slope.data(), sums.value.data(), sums.square.data()};
  switch (contrast) {
    case Contrast::logcosh:
      return log_cosh(Y.data(), o);
    case Contrast::exp:
      return bell(Y.data(), o);
    case Contrast::cube:
      return cube(Y.data(), o);
    case Contrast::skew:
      return square(Y.data(), o);
  }
}
template void add_nonlinearity(Contrast, LineMatrix<double>&, const double*, NonlinearitySums);
template void add_nonlinearity(Contrast, LineMatrix<float>&, const double*, NonlinearitySums);

}  // namespace demix
