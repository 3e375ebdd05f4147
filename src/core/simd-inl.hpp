// Vectors of the full width of the processor (Highway) and what the kernels share. A kernel file is compiled
// once for each generation of processors, this header with it; the best one the machine has is chosen at run
// time.
//
// Rows of a block or matrix are filled up with zeros to whole units of 32 bytes. Kernels go over them in full
// vectors and do a last unit that does not fill one in vectors of 32 bytes.
#if defined(DEMIX_CORE_SIMD_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef DEMIX_CORE_SIMD_INL_HPP
#undef DEMIX_CORE_SIMD_INL_HPP
#else
#define DEMIX_CORE_SIMD_INL_HPP
#endif

#include <hwy/cache_control.h>
#include <hwy/highway.h>

#include <algorithm>
#include <limits>
#include <type_traits>

#include "demix/types.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
using Full = hn::CappedTag<T, 64 / sizeof(T)>;  // of at most 64 bytes
template <typename T>
using Unit = hn::CappedTag<T, 32 / sizeof(T)>;  // of at most 32 bytes
template <class D>
using Vec = hn::Vec<D>;
template <typename T>
constexpr Index unit = 32 / sizeof(T);  // values

template <class D>
constexpr Index most_lanes = static_cast<Index>(hn::MaxLanes(D()));  // values of a vector, for arrays

template <class D>
HWY_INLINE Index lanes(D d) {
  return static_cast<Index>(hn::Lanes(d));
}

/// The sum of all values, in double.
template <class D>
HWY_INLINE double total(D d, Vec<D> v) {
  using T = hn::TFromD<D>;
  HWY_ALIGN T values[most_lanes<D>];
  hn::Store(v, d, values);
  double sum = 0;
  for (Index k = 0; k < lanes(d); ++k) sum += static_cast<double>(values[k]);
  return sum;
}

/// sum_rc <- sum_rc + sum_k scalar_r(k) vector_c(k) for R scalars and C vectors side by side, all in
/// registers. Steps: from k to k + 1.
template <int R, int C, class D, typename T = hn::TFromD<D>>
HWY_INLINE void add_outer(D d, const T* const (&scalars)[R], Index scalar_step, const T* vectors,
                          Index vector_step, Index n, Vec<D> (&sum)[R][C]) {
  for (Index k = 0; k < n; ++k) {
    Vec<D> v[C];
    for (int c = 0; c < C; ++c) v[c] = hn::LoadU(d, vectors + k * vector_step + c * lanes(d));
    for (int r = 0; r < R; ++r) {
      const Vec<D> scalar = hn::Set(d, scalars[r][k * scalar_step]);
      for (int c = 0; c < C; ++c) sum[r][c] = hn::MulAdd(scalar, v[c], sum[r][c]);
    }
  }
}

template <int R, int C, class D>
HWY_INLINE void set_zero(D d, Vec<D> (&sum)[R][C]) {
  for (int r = 0; r < R; ++r) {
    for (int c = 0; c < C; ++c) sum[r][c] = hn::Zero(d);
  }
}

/// s_i <- s_i + v_i for the first `rows` values of v.
template <class D>
HWY_INLINE void add_to(D d, Vec<D> v, Index rows, double* s) {
  using T = hn::TFromD<D>;
  if constexpr (std::is_same_v<T, double>) {
    if (rows >= lanes(d)) {
      hn::StoreU(hn::Add(hn::LoadU(d, s), v), d, s);
      return;
    }
  }
#if HWY_TARGET != HWY_SCALAR  // whose vectors have no halves
  if constexpr (std::is_same_v<T, float>) {
    if (rows >= lanes(d)) {
      const hn::Half<D> half;
      const hn::Rebind<double, hn::Half<D>> wide;
      const auto low = hn::PromoteTo(wide, hn::LowerHalf(half, v));
      const auto high = hn::PromoteTo(wide, hn::UpperHalf(half, v));
      hn::StoreU(hn::Add(hn::LoadU(wide, s), low), wide, s);
      hn::StoreU(hn::Add(hn::LoadU(wide, s + lanes(wide)), high), wide, s + lanes(wide));
      return;
    }
  }
#endif
  HWY_ALIGN T values[most_lanes<D>];
  hn::Store(v, d, values);
  for (Index i = 0; i < std::min(lanes(d), rows); ++i) s[i] += static_cast<double>(values[i]);
}

/// Two vectors of sums for each of so many scalars fill the registers: 32 from AVX-512 on, 16 before. Each
/// sum waits for itself; the more there are, the less the processor waits.
constexpr int most_scalars = HWY_TARGET <= HWY_AVX3 ? 8 : 4;

/// s_ir <- s_ir + sum_k scalar_r(k) vector_i(k): the same for the first `rows` values of C vectors and the
/// first `columns` of R scalars. `ld`: from column to column of s.
template <int C, int R, class D, typename T = hn::TFromD<D>>
HWY_INLINE void add_outer_to(D d, const T* const (&scalars)[R], Index scalar_step, const T* vectors,
                             Index vector_step, Index n, Index rows, Index columns, double* s, Index ld) {
  Vec<D> sum[R][C];
  set_zero(d, sum);
  add_outer(d, scalars, scalar_step, vectors, vector_step, n, sum);
  for (int r = 0; r < R; ++r) {
    if (r >= columns) return;
    for (int c = 0; c < C; ++c) {
      const Index first = c * lanes(d);
      if (first < rows) add_to(d, sum[r][c], rows - first, s + r * ld + first);
    }
  }
}

/// The same for all rows: as many vectors as `rows`, filled up to whole units, takes.
template <int R, typename T>
HWY_INLINE void add_outer_rows(const T* const (&scalars)[R], Index scalar_step, const T* vectors,
                               Index vector_step, Index n, Index rows, Index columns, double* s, Index ld) {
  const Full<T> full;
  const Unit<T> one;
  const Index width = lanes(full);
  const Index padded = (rows + unit<T> - 1) / unit<T> * unit<T>;
  Index i = 0;
  for (; i + 2 * width <= padded; i += 2 * width)
    add_outer_to<2>(full, scalars, scalar_step, vectors + i, vector_step, n, rows - i, columns, s + i, ld);
  if (i + width <= padded) {
    add_outer_to<1>(full, scalars, scalar_step, vectors + i, vector_step, n, rows - i, columns, s + i, ld);
    i += width;
  }
  if (i < padded)
    add_outer_to<1>(one, scalars, scalar_step, vectors + i, vector_step, n, rows - i, columns, s + i, ld);
}

/// e^x for x <= 0, to 2e-15 of it (double) or 2e-7 (float); below -700 or -80 that of -700 or -80. Highway's
/// Exp is good for all x and takes half as long again.
///   x = n ln 2 + r,  e^x = 2^n e^r,  |r| <= ln(2) / 2
template <class D>
HWY_INLINE Vec<D> exp_of_negative_double(D d, Vec<D> x) {
  const auto c = [&](double value) HWY_ATTR { return hn::Set(d, value); };
  const Vec<D> shift = c(0x1.8p52);  // adding it rounds to a whole number, which is in the low bits
  x = hn::Max(x, c(-700));
  const Vec<D> shifted = hn::MulAdd(x, c(0x1.71547652b82fep0), shift);
  const Vec<D> n = hn::Sub(shifted, shift);
  const Vec<D> r = hn::NegMulAdd(n, c(0x1.ef35793c7673p-45), hn::NegMulAdd(n, c(0x1.62e42fefa38p-1), x));
  // (e^r - 1 - r) / r^2 by its Chebyshev interpolant of degree 8
  Vec<D> p = c(0x1.287e02a4f292ap-22);
  p = hn::MulAdd(p, r, c(0x1.72c7500bfec37p-19));
  p = hn::MulAdd(p, r, c(0x1.a019cc6ac2accp-16));
  p = hn::MulAdd(p, r, c(0x1.a019ad8d202eep-13));
  p = hn::MulAdd(p, r, c(0x1.6c16c172a4884p-10));
  p = hn::MulAdd(p, r, c(0x1.1111111c4aaddp-7));
  p = hn::MulAdd(p, r, c(0x1.5555555554f1dp-5));
  p = hn::MulAdd(p, r, c(0x1.5555555553b79p-3));
  p = hn::MulAdd(p, r, c(0x1.0000000000003p-1));
  p = hn::MulAdd(p, r, c(1));
  p = hn::MulAdd(p, r, c(1));
  const hn::RebindToSigned<D> bits;
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), hn::ShiftLeft<52>(hn::BitCast(bits, shifted))));
}

template <class D>
HWY_INLINE Vec<D> exp_of_negative_float(D d, Vec<D> x) {
  const auto c = [&](float value) HWY_ATTR { return hn::Set(d, value); };
  const Vec<D> shift = c(0x1.8p23F);
  x = hn::Max(x, c(-80));
  const Vec<D> shifted = hn::MulAdd(x, c(0x1.715476p0F), shift);
  const Vec<D> n = hn::Sub(shifted, shift);
  const Vec<D> r = hn::NegMulAdd(n, c(0x1.7f7d1cp-20F), hn::NegMulAdd(n, c(0x1.62e4p-1F), x));
  Vec<D> p = c(1.0F / 720);
  p = hn::MulAdd(p, r, c(1.0F / 120));
  p = hn::MulAdd(p, r, c(1.0F / 24));
  p = hn::MulAdd(p, r, c(1.0F / 6));
  p = hn::MulAdd(p, r, c(0.5F));
  p = hn::MulAdd(p, r, c(1));
  p = hn::MulAdd(p, r, c(1));
  const hn::RebindToSigned<D> bits;
  return hn::BitCast(d, hn::Add(hn::BitCast(bits, p), hn::ShiftLeft<23>(hn::BitCast(bits, shifted))));
}

template <class D>
HWY_INLINE Vec<D> exp_of_negative(D d, Vec<D> x) {
  if constexpr (std::is_same_v<hn::TFromD<D>, double>) {
    return exp_of_negative_double(d, x);
  } else {
    return exp_of_negative_float(d, x);
  }
}

/// With e = exp(-2 |y|): tanh |y| = (1 - e) / (1 + e).
template <class D>
struct TanhParts {
  Vec<D> size, e, tanh;  // |y|, e, tanh y
};
template <class D>
HWY_INLINE TanhParts<D> tanh_parts(D d, Vec<D> y) {
  using T = hn::TFromD<D>;
  const Vec<D> one = hn::Set(d, T{1});
  const Vec<D> size = hn::Abs(y);
  const Vec<D> e = exp_of_negative(d, hn::Mul(hn::Set(d, T{-2}), size));
  return {size, e, hn::CopySignToAbs(hn::Div(hn::Sub(one, e), hn::Add(one, e)), y)};
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#endif
