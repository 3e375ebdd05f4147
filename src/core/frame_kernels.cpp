#include "core/frame_kernels.hpp"

#include "core/tile.hpp"

namespace demix {
namespace {

using Lane = Lanes<double>::Type;
constexpr Index width = 4;

DEMIX_INLINE Lane load(const double* p) { return *reinterpret_cast<const Lane*>(p); }

DEMIX_INLINE void store(double* p, Lane v) { *reinterpret_cast<Lane*>(p) = v; }

// y_r(t) = sum_c p_rc x_c(t) for R rows of P and two lanes of frames. Columns that begin with zeros, as those
// of a triangular P, are passed over.
template <int R>
DEMIX_INLINE void product_tile(const double* x, const double* p, Index channels, Index frames, Index rows,
                               double* y) {
  const auto is_zero = [&](Index c) {
    for (int r = 0; r < R; ++r) {
      if (p[c * rows + r] != 0) return false;
    }
    return true;
  };
  Index first = 0;
  while (first < channels && is_zero(first)) ++first;
  for (Index t = 0; t < frames; t += 2 * width) {
    Lane low[R] = {};
    Lane high[R] = {};
    for (Index c = first; c < channels; ++c) {
      const Lane x0 = load(x + c * frames + t);
      const Lane x1 = load(x + c * frames + t + width);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        low[r] += p[c * rows + r] * x0;
        high[r] += p[c * rows + r] * x1;
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      store(y + r * frames + t, low[r]);
      store(y + r * frames + t + width, high[r]);
    }
  }
}

// Tiles of 4 x 4, turned in registers.
DEMIX_CLONES void turn_tiles(const double* from, Index stride, Index frames, Index channels,
                             const double* origin, double* to, Index rows) {
  const Index whole = channels - channels % 4;
  Index t = 0;
  for (; t + 4 <= frames; t += 4) {
    for (Index i = 0; i < whole; i += 4) {
      const Lane o = load(origin + i);
      const double* x = from + t * stride + i;
      const Lane a = load(x) - o;
      const Lane b = load(x + stride) - o;
      const Lane c = load(x + 2 * stride) - o;
      const Lane d = load(x + 3 * stride) - o;
      const Lane ab0 = __builtin_shufflevector(a, b, 0, 4, 2, 6);
      const Lane ab1 = __builtin_shufflevector(a, b, 1, 5, 3, 7);
      const Lane cd0 = __builtin_shufflevector(c, d, 0, 4, 2, 6);
      const Lane cd1 = __builtin_shufflevector(c, d, 1, 5, 3, 7);
      double* y = to + i * rows + t;
      store(y, __builtin_shufflevector(ab0, cd0, 0, 1, 4, 5));
      store(y + rows, __builtin_shufflevector(ab1, cd1, 0, 1, 4, 5));
      store(y + 2 * rows, __builtin_shufflevector(ab0, cd0, 2, 3, 6, 7));
      store(y + 3 * rows, __builtin_shufflevector(ab1, cd1, 2, 3, 6, 7));
    }
    for (Index i = whole; i < channels; ++i) {
      for (Index k = t; k < t + 4; ++k) to[i * rows + k] = from[k * stride + i] - origin[i];
    }
  }
  for (; t < frames; ++t) {
    for (Index i = 0; i < channels; ++i) to[i * rows + t] = from[t * stride + i] - origin[i];
  }
}

// Whole tiles, also where they reach above the diagonal: what is there is not looked at.
DEMIX_CLONES void scatter(const double* x, Index frames, Index channels, double* s) {
  const auto channel = [&](Index i) { return x + i * frames; };
  Index j = 0;
  for (; j + 4 <= channels; j += 4) {
    Index i = j;
    for (; i + 3 <= channels; i += 3) {
      const double* three[] = {channel(i), channel(i + 1), channel(i + 2)};
      sum_tile<3, 4>(three, channel(j), frames, 1, s + j * channels + i, channels);
    }
    for (; i < channels; ++i) {
      const double* one[] = {channel(i)};
      sum_tile<1, 4>(one, channel(j), frames, 1, s + j * channels + i, channels);
    }
  }
  for (; j < channels; ++j) {
    for (Index i = j; i < channels; ++i) {
      const double* one[] = {channel(i)};
      sum_tile<1, 1>(one, channel(j), frames, 1, s + j * channels + i, channels);
    }
  }
}

template <int C>
DEMIX_INLINE void product_columns(const double* x, Index frames, const Index* rows, Index count,
                                  const double* column, double* s) {
  Index r = 0;
  for (; r + 3 <= count; r += 3) {
    const double* three[] = {x + rows[r] * frames, x + rows[r + 1] * frames, x + rows[r + 2] * frames};
    sum_tile<3, C>(three, column, frames, 1, s + r, count);
  }
  if (r + 2 == count) {
    const double* two[] = {x + rows[r] * frames, x + rows[r + 1] * frames};
    sum_tile<2, C>(two, column, frames, 1, s + r, count);
  } else if (r < count) {
    const double* one[] = {x + rows[r] * frames};
    sum_tile<1, C>(one, column, frames, 1, s + r, count);
  }
}

DEMIX_CLONES void products(const double* x, Index frames, const Index* rows, Index count, Index columns,
                           double* s) {
  Index c = 0;
  for (; c + 4 <= columns; c += 4) {
    product_columns<4>(x, frames, rows, count, x + c * frames, s + c * count);
  }
  for (; c < columns; ++c) product_columns<1>(x, frames, rows, count, x + c * frames, s + c * count);
}

DEMIX_CLONES void product(const double* x, const double* p, Index channels, Index frames, Index rows,
                          double* y) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) product_tile<4>(x, p + r, channels, frames, rows, y + r * frames);
  for (; r < rows; ++r) product_tile<1>(x, p + r, channels, frames, rows, y + r * frames);
}

}  // namespace

void turn(const double* from, Index stride, Index frames, const Vector<double>& origin, double* to,
          Index rows) {
  turn_tiles(from, stride, frames, origin.size(), origin.data(), to, rows);
}

void add_scatter(const Matrix<double>& X, Matrix<double>& S) {
  scatter(X.data(), X.rows(), X.cols(), S.data());
}

void add_products(const Matrix<double>& X, const std::vector<Index>& rows, Matrix<double>& S) {
  products(X.data(), X.rows(), rows.data(), static_cast<Index>(rows.size()), S.cols(), S.data());
}

void multiply(const Matrix<double>& X, const Matrix<double>& P, Matrix<double>& Y) {
  Y.resize(X.rows(), P.rows());
  product(X.data(), P.data(), X.cols(), X.rows(), P.rows(), Y.data());
}

}  // namespace demix
