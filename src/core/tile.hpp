#pragma once

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
/// The same of the first halves of four lanes of floats, and of the second.
DEMIX_INLINE void turn_four(Lanes<float>::Type& a, Lanes<float>::Type& b, Lanes<float>::Type& c,
                            Lanes<float>::Type& d) {
  const auto ab01 = __builtin_shufflevector(a, b, 0, 8, 1, 9, 4, 12, 5, 13);
  const auto ab23 = __builtin_shufflevector(a, b, 2, 10, 3, 11, 6, 14, 7, 15);
  const auto cd01 = __builtin_shufflevector(c, d, 0, 8, 1, 9, 4, 12, 5, 13);
  const auto cd23 = __builtin_shufflevector(c, d, 2, 10, 3, 11, 6, 14, 7, 15);
  a = __builtin_shufflevector(ab01, cd01, 0, 1, 8, 9, 4, 5, 12, 13);
  b = __builtin_shufflevector(ab01, cd01, 2, 3, 10, 11, 6, 7, 14, 15);
  c = __builtin_shufflevector(ab23, cd23, 0, 1, 8, 9, 4, 5, 12, 13);
  d = __builtin_shufflevector(ab23, cd23, 2, 3, 10, 11, 6, 7, 14, 15);
}

/// Of all values of a lane.
DEMIX_INLINE double total(Lanes<double>::Type v) { return (v[0] + v[1]) + (v[2] + v[3]); }
DEMIX_INLINE double total(Lanes<float>::Type v) {
  using Doubles = Lanes<double>::Type;
  return total(__builtin_convertvector(__builtin_shufflevector(v, v, 0, 1, 2, 3), Doubles) +
               __builtin_convertvector(__builtin_shufflevector(v, v, 4, 5, 6, 7), Doubles));
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
