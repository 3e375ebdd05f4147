#pragma once

#include "core/clones.hpp"
#include "demix/types.hpp"

namespace demix {

template <typename T>
struct Lanes {
  typedef T Type __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));
};

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
