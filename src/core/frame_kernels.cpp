#include "core/frame_kernels.hpp"

#include "core/clones.hpp"

namespace demix {
namespace {

typedef double Lane __attribute__((vector_size(32), aligned(sizeof(double)), may_alias));
constexpr Index width = 4;

DEMIX_INLINE Lane load(const double* p) { return *reinterpret_cast<const Lane*>(p); }

// s_rc += sum_t a_r(t) b_c(t) for a tile of R x C columns, which stays in registers.
template <int R, int C>
DEMIX_INLINE void scatter_tile(const double* a, const double* b, Index frames, double* s, Index ld) {
  Lane sum[R][C] = {};
  for (Index t = 0; t < frames; t += width) {
    Lane row[R];
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) row[r] = load(a + r * frames + t);
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) {
      const Lane column = load(b + c * frames + t);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) sum[r][c] += row[r] * column;
    }
  }
#pragma GCC unroll 4
  for (int c = 0; c < C; ++c) {
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      const Lane v = sum[r][c];
      s[c * ld + r] += (v[0] + v[1]) + (v[2] + v[3]);
    }
  }
}

// y_r(t) = sum_c p_rc x_c(t) for R rows of P and two lanes of frames.
template <int R>
DEMIX_INLINE void product_tile(const double* x, const double* p, Index channels, Index frames, Index rows,
                               double* y) {
  for (Index t = 0; t < frames; t += 2 * width) {
    Lane low[R] = {};
    Lane high[R] = {};
    for (Index c = 0; c < channels; ++c) {
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
      *reinterpret_cast<Lane*>(y + r * frames + t) = low[r];
      *reinterpret_cast<Lane*>(y + r * frames + t + width) = high[r];
    }
  }
}

// Whole tiles, also where they reach above the diagonal: what is there is not looked at.
DEMIX_CLONES void scatter(const double* x, Index frames, Index channels, double* s) {
  Index j = 0;
  for (; j + 4 <= channels; j += 4) {
    const double* b = x + j * frames;
    Index i = j;
    for (; i + 3 <= channels; i += 3)
      scatter_tile<3, 4>(x + i * frames, b, frames, s + j * channels + i, channels);
    for (; i < channels; ++i) scatter_tile<1, 4>(x + i * frames, b, frames, s + j * channels + i, channels);
  }
  for (; j < channels; ++j) {
    for (Index i = j; i < channels; ++i) {
      scatter_tile<1, 1>(x + i * frames, x + j * frames, frames, s + j * channels + i, channels);
    }
  }
}

DEMIX_CLONES void product(const double* x, const double* p, Index channels, Index frames, Index rows,
                          double* y) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) product_tile<4>(x, p + r, channels, frames, rows, y + r * frames);
  for (; r < rows; ++r) product_tile<1>(x, p + r, channels, frames, rows, y + r * frames);
}

}  // namespace

void add_scatter(const Matrix<double>& X, Matrix<double>& S) {
  scatter(X.data(), X.rows(), X.cols(), S.data());
}

void multiply(const Matrix<double>& X, const Matrix<double>& P, Matrix<double>& Y) {
  Y.resize(X.rows(), P.rows());
  product(X.data(), P.data(), X.cols(), X.rows(), P.rows(), Y.data());
}

}  // namespace demix
