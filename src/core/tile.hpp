#pragma once

#include <algorithm>
#include <type_traits>

#include "core/clones.hpp"
#include "demix/types.hpp"

namespace demix {

/// 32 bytes of values, wherever they are.
template <typename T>
struct Lanes {
  typedef T Type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};
template <typename T>
using Lane = typename Lanes<T>::Type;
template <typename T>
constexpr Index width = 32 / static_cast<Index>(sizeof(T));  ///< values of a lane

template <typename T>
DEMIX_INLINE Lane<T> load(const T* p) {
  return *reinterpret_cast<const Lane<T>*>(p);
}
template <typename T>
DEMIX_INLINE void store(T* p, Lane<T> v) {
  *reinterpret_cast<Lane<T>*>(p) = v;
}

/// Four lanes of four become their transposition.
DEMIX_INLINE void turn_four(Lane<double>& a, Lane<double>& b, Lane<double>& c, Lane<double>& d) {
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
DEMIX_INLINE double total(Lane<double> v) { return (v[0] + v[1]) + (v[2] + v[3]); }
DEMIX_INLINE double total(Lane<float> v) {
  return total(__builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), Lane<double>) +
               __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), Lane<double>));
}

/// sum_rc <- sum_rc + sum_k scalar_r(k) lane_c(k) for R scalars and C lanes side by side, in registers.
/// Steps: from k to k + 1.
template <int R, int C, typename T>
DEMIX_INLINE void add_outer(const T* const (&scalars)[R], Index scalar_step, const T* lanes, Index lane_step,
                            Index n, Lane<T> (&sum)[R][C]) {
  for (Index k = 0; k < n; ++k) {
    Lane<T> lane[C];
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) lane[c] = load(lanes + k * lane_step + c * width<T>);
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
  Lane<T> sum[4][C] = {};
  add_outer(scalars, scalar_step, lanes, lane_step, n, sum);
  if constexpr (std::is_same_v<T, double>) {
    if (rows >= C * width<T> && columns >= 4) {
#pragma GCC unroll 4
      for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
        for (int c = 0; c < C; ++c) {
          double* to = s + r * ld + c * width<T>;
          store(to, load(to) + sum[r][c]);
        }
      }
      return;
    }
  }
  alignas(32) T all[4][C * width<T>];
#pragma GCC unroll 4
  for (int r = 0; r < 4; ++r) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) store(all[r] + c * width<T>, sum[r][c]);
  }
  for (Index r = 0; r < std::min<Index>(4, columns); ++r) {
    for (Index i = 0; i < std::min(C * width<T>, rows); ++i) s[r * ld + i] += static_cast<double>(all[r][i]);
  }
}

/// out_rc <- keep out_rc + sum_t row_r(t) column_c(t) for a tile of R x C, which stays in registers. Columns
/// are `length` apart, which is also how long they are, a multiple of 32 bytes; `ld`: from column to column
/// of out.
template <int R, int C, typename T>
DEMIX_INLINE void sum_tile(const T* const* rows, const T* columns, Index length, double keep, double* out,
                           Index ld) {
  Lane<T> sum[R][C] = {};
  for (Index t = 0; t < length; t += width<T>) {
    Lane<T> row[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) row[r] = load(rows[r] + t);
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      const Lane<T> column = load(columns + c * length + t);
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
