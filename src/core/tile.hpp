#pragma once

#include <algorithm>
#include <type_traits>

#include "core/clones.hpp"
#include "demix/types.hpp"

namespace demix {

template <typename T>
struct Lanes {
  typedef T Type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};

/// Four lanes of four become their transposition.
DEMIX_INLINE void turn_four(Lanes<double>::Type& a, Lanes<double>::Type& b, Lanes<double>::Type& c,
                            Lanes<double>::Type& d) {
  const auto ab02 = __builtin_shufflevector(a, b, 0, 4, 2, 6);
  const auto ab13 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const auto cd02 = __builtin_shufflevector(c, d, 0, 4, 2, 6);
  const auto cd13 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
  a = __builtin_shufflevector(ab02, cd02, 0, 1, 4, 5);
  b = __builtin_shufflevector(ab13, cd13, 0, 1, 4, 5);
  c = __builtin_shufflevector(ab02, cd02, 2, 3, 6, 7);
  d = __builtin_shufflevector(ab13, cd13, 2, 3, 6, 7);
}
/// Of all values of a lane.
DEMIX_INLINE double total(Lanes<double>::Type v) { return (v[0] + v[1]) + (v[2] + v[3]); }
DEMIX_INLINE double total(Lanes<float>::Type v) {
  using Doubles = Lanes<double>::Type;
  return total(__builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), Doubles) +
               __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), Doubles));
}

/// sum_rc <- sum_rc + sum_k scalar_r(k) lane_c(k) for R scalars and C lanes side by side, in registers.
/// Steps: from k to k + 1.
template <int R, int C, typename T>
DEMIX_INLINE void add_outer(const T* const (&scalars)[R], Index scalar_step, const T* lanes, Index lane_step,
                            Index n, typename Lanes<T>::Type (&sum)[R][C]) {
  using V = typename Lanes<T>::Type;
  constexpr Index width = 32 / static_cast<Index>(sizeof(T));
  for (Index k = 0; k < n; ++k) {
    V lane[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) lane[c] = *reinterpret_cast<const V*>(lanes + k * lane_step + c * width);
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const T scalar = scalars[r][k * scalar_step];
#pragma GCC unroll 4
      for (int c = 0; c < C; ++c) sum[r][c] += scalar * lane[c];
    }
  }
}

/// s_ir <- s_ir + sum_k scalar_r(k) lane_i(k): the same for the first `rows` values of the lanes and as many
/// of the scalars; `ld`: from column to column of s.
template <int C, typename T>
DEMIX_INLINE void add_outer_to(const T* const (&scalars)[4], Index scalar_step, const T* lanes,
                               Index lane_step, Index n, Index rows, Index columns, double* s, Index ld) {
  using V = typename Lanes<T>::Type;
  using Doubles = Lanes<double>::Type;
  constexpr Index width = 32 / static_cast<Index>(sizeof(T));
  V sum[4][C] = {};
  add_outer(scalars, scalar_step, lanes, lane_step, n, sum);
  if constexpr (std::is_same_v<T, double>) {
    if (rows >= C * width && columns >= 4) {
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) *reinterpret_cast<Doubles*>(s + r * ld + c * width) += sum[r][c];
      }
      return;
    }
  }
  alignas(32) T all[4][C * width];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) *reinterpret_cast<V*>(all[r] + c * width) = sum[r][c];
  }
  for (Index r = 0; r < std::min<Index>(4, columns); ++r) {
    for (Index i = 0; i < std::min(C * width, rows); ++i) s[r * ld + i] += static_cast<double>(all[r][i]);
  }
}

/// out_rc <- keep out_rc + sum_t row_r(t) column_c(t) for a tile of R x C, which stays in registers. Columns
/// are `length` apart, which is also how long they are, a multiple of 32 bytes; `ld`: from column to column
/// of out.
template <int R, int C, typename T>
DEMIX_INLINE void sum_tile(const T* const* rows, const T* columns, Index length, double keep, double* out,
                           Index ld) {
  using V = typename Lanes<T>::Type;
  constexpr Index width = 32 / static_cast<Index>(sizeof(T));
  V sum[R][C] = {};
  for (Index t = 0; t < length; t += width) {
    V row[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) row[r] = *reinterpret_cast<const V*>(rows[r] + t);
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      const V column = *reinterpret_cast<const V*>(columns + c * length + t);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][c] += row[r] * column;
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      out[c * ld + r] = keep * out[c * ld + r] + total(sum[r][c]);
    }
  }
}

}  // namespace demix
