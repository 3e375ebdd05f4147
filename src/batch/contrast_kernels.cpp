#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "batch/contrast_kernels.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "batch/contrast_kernels.hpp"
#include "core/simd-inl.hpp"
#include "core/simd.hpp"
#include "hwy/contrib/math/math-inl.h"

#ifndef DEMIX_BATCH_CONTRAST_ARGUMENTS
#define DEMIX_BATCH_CONTRAST_ARGUMENTS
namespace demix {
struct ContrastArguments {
  Index stride, channels, frames;
  const double* weights;
  double *slope, *value, *square;
};
}  // namespace demix
#endif

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

template <class D>
HWY_INLINE void store_sums(D d, Vec<D> v, double* sums) {
  HWY_ALIGN hn::TFromD<D> values[most_lanes<D>];
  hn::Store(v, d, values);
  for (Index q = 0; q < lanes(d); ++q) sums[q] = static_cast<double>(values[q]);
}

// A nonlinearity: add(d, v, u) takes a vector of outputs, each of weight u, returns u g(v), and sums up u
// g'(v), u G(v) and u v^2.

// log cosh y = |y| + log(1 + e) - log 2, e = exp(-2 |y|). The logarithms of some values are that of their
// product, if all count the same.
template <class D, bool weighted>
struct LogCosh {
  using T = hn::TFromD<D>;
  using V = Vec<D>;
  V slopes, sizes, squares, product, logs;

  HWY_INLINE explicit LogCosh(D d)
      : slopes(hn::Zero(d)), sizes(slopes), squares(slopes), product(hn::Set(d, T{1})), logs(slopes) {}
  HWY_INLINE V add(D d, V v, V u) {
    const V one = hn::Set(d, T{1});
    const TanhParts<D> parts = tanh_parts(d, v);
    const V g = parts.tanh;
    if constexpr (weighted) {
      const V log2 = hn::Set(d, T(0x1.62e42fefa39efp-1));
      logs = hn::MulAdd(u, hn::Sub(hn::Log1p(d, parts.e), log2), logs);
      sizes = hn::MulAdd(u, parts.size, sizes);
      squares = hn::MulAdd(hn::Mul(u, v), v, squares);
      slopes = hn::MulAdd(u, hn::NegMulAdd(g, g, one), slopes);
      return hn::Mul(u, g);
    } else {
      const V half = hn::Set(d, T(0.5));
      product = hn::Mul(product, hn::MulAdd(half, parts.e, half));
      sizes = hn::Add(sizes, parts.size);
      squares = hn::MulAdd(v, v, squares);
      slopes = hn::Add(slopes, hn::NegMulAdd(g, g, one));
      return g;
    }
  }
  HWY_INLINE void sums(D d, double* slope, double* value, double* square) const {
    store_sums(d, slopes, slope);
    store_sums(d, hn::Add(sizes, weighted ? logs : hn::Log(d, product)), value);
    store_sums(d, squares, square);
  }
};

// Nonlinearities whose slope, value and square are a sum each, times a factor.
template <class D>
struct ThreeSums {
  using T = hn::TFromD<D>;
  Vec<D> slopes, values, squares;

  HWY_INLINE explicit ThreeSums(D d) : slopes(hn::Zero(d)), values(hn::Zero(d)), squares(hn::Zero(d)) {}
  HWY_INLINE void sums(D d, double* slope, double* value, double* square) const {
    store_sums(d, slopes, slope);
    store_sums(d, values, value);
    store_sums(d, squares, square);
  }
};

template <class D, bool>
struct Bell : ThreeSums<D> {
  HWY_INLINE explicit Bell(D d) : ThreeSums<D>(d) {}
  using T = hn::TFromD<D>;
  HWY_INLINE Vec<D> add(D d, Vec<D> v, Vec<D> u) {
    const auto one = hn::Set(d, T{1});
    const auto square = hn::Mul(v, v);
    const auto bell = exp_of_negative(d, hn::Mul(hn::Set(d, T(-0.5)), square));
    this->squares = hn::MulAdd(u, square, this->squares);
    this->slopes = hn::MulAdd(hn::Mul(u, hn::Sub(one, square)), bell, this->slopes);
    this->values = hn::MulAdd(u, hn::Sub(one, bell), this->values);
    return hn::Mul(hn::Mul(u, v), bell);
  }
};

template <class D, bool>
struct Cube : ThreeSums<D> {
  HWY_INLINE explicit Cube(D d) : ThreeSums<D>(d) {}
  using T = hn::TFromD<D>;
  HWY_INLINE Vec<D> add(D d, Vec<D> v, Vec<D> u) {
    const auto square = hn::Mul(hn::Mul(u, v), v);
    const auto cube = hn::Mul(square, v);
    this->squares = hn::Add(this->squares, square);
    this->slopes = hn::MulAdd(hn::Set(d, T{3}), square, this->slopes);
    this->values = hn::MulAdd(hn::Mul(hn::Set(d, T(0.25)), cube), v, this->values);
    return cube;
  }
};

template <class D, bool>
struct Square : ThreeSums<D> {
  HWY_INLINE explicit Square(D d) : ThreeSums<D>(d) {}
  using T = hn::TFromD<D>;
  HWY_INLINE Vec<D> add(D d, Vec<D> v, Vec<D> u) {
    const auto first = hn::Mul(u, v);
    const auto square = hn::Mul(first, v);
    this->squares = hn::Add(this->squares, square);
    this->slopes = hn::MulAdd(hn::Set(d, T{2}), first, this->slopes);
    this->values = hn::MulAdd(hn::Mul(hn::Set(d, T(1.0 / 3)), square), v, this->values);
    return square;
  }
};

template <template <class, bool> class Kind, bool weighted, class D, typename T>
HWY_INLINE void one_vector(D d, Index i, const T* y, T* g, const ContrastArguments& a) {
  constexpr Index some = 64;  // frames: 2 to that power is still a float
  for (Index start = 0; start < a.frames; start += some) {
    Kind<D, weighted> kind(d);
    for (Index t = start; t < std::min(a.frames, start + some); ++t) {
      const auto u = hn::Set(d, weighted ? static_cast<T>(a.weights[t]) : T{1});
      hn::StoreU(kind.add(d, hn::LoadU(d, y + t * a.stride + i), u), d, g + t * a.stride + i);
    }
    double slope[most_lanes<D>];
    double value[most_lanes<D>];
    double square[most_lanes<D>];
    kind.sums(d, slope, value, square);
    for (Index q = 0; q < std::min(lanes(d), a.channels - i); ++q) {
      a.slope[i + q] += slope[q];
      a.value[i + q] += value[q];
      a.square[i + q] += square[q];
    }
  }
}

template <template <class, bool> class Kind, bool weighted, typename T>
HWY_INLINE void each_vector(const T* y, T* g, const ContrastArguments& a) {
  const Full<T> full;
  const Unit<T> small;
  const Index rows = (a.channels + unit<T> - 1) / unit<T> * unit<T>;
  Index i = 0;
  for (; i + lanes(full) <= rows; i += lanes(full)) one_vector<Kind, weighted>(full, i, y, g, a);
  for (; i < rows; i += lanes(small)) one_vector<Kind, weighted>(small, i, y, g, a);
}
template <template <class, bool> class Kind>
HWY_INLINE void each_output(const double* y, double* g, const ContrastArguments& a) {
  a.weights ? each_vector<Kind, true>(y, g, a) : each_vector<Kind, false>(y, g, a);
}
template <template <class, bool> class Kind>
HWY_INLINE void each_output(const float* y, float* g, const ContrastArguments& a) {
  each_vector<Kind, false>(y, g, a);
}

template <typename T>
HWY_INLINE void nonlinearity(Contrast contrast, const T* y, T* g, const ContrastArguments& a) {
  switch (contrast) {
    case Contrast::logcosh:
      return each_output<LogCosh>(y, g, a);
    case Contrast::exp:
      return each_output<Bell>(y, g, a);
    case Contrast::cube:
      return each_output<Cube>(y, g, a);
    case Contrast::skew:
      return each_output<Square>(y, g, a);
  }
}
void NonlinearityDouble(Contrast contrast, const double* y, double* g, const ContrastArguments& a) {
  nonlinearity(contrast, y, g, a);
}
void NonlinearityFloat(Contrast contrast, const float* y, float* g, const ContrastArguments& a) {
  nonlinearity(contrast, y, g, a);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {
HWY_EXPORT(NonlinearityDouble);
HWY_EXPORT(NonlinearityFloat);
}  // namespace

template <typename T>
void add_nonlinearity(Contrast contrast, const LineMatrix<T>& Y, LineMatrix<T>& G, const double* weights,
                      NonlinearitySums sums) {
  if (G.data() != Y.data()) G.resize(Y.rows(), Y.cols());
  const ContrastArguments a{Y.rows(),          sums.slope.size(), Y.cols(),          weights,
                            sums.slope.data(), sums.value.data(), sums.square.data()};
  if constexpr (std::is_same_v<T, double>) {
    DEMIX_DISPATCH(NonlinearityDouble)(contrast, Y.data(), G.data(), a);
  } else {
    DEMIX_DISPATCH(NonlinearityFloat)(contrast, Y.data(), G.data(), a);
  }
}
template void add_nonlinearity(Contrast, const LineMatrix<double>&, LineMatrix<double>&, const double*,
                               NonlinearitySums);
template void add_nonlinearity(Contrast, const LineMatrix<float>&, LineMatrix<float>&, const double*,
                               NonlinearitySums);

}  // namespace demix
#endif
