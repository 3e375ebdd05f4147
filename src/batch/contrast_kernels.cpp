#include "batch/contrast_kernels.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "core/tile.hpp"
#include "core/vector_exp.hpp"

namespace demix {
namespace {

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
