#include "core/frame_kernels.hpp"

#include <algorithm>

#include "core/tile.hpp"

namespace demix {
namespace {

// Asks for what is ahead in so many equal parts: all at once would have to wait for one another.
class Asking {
 public:
  DEMIX_INLINE Asking(Ahead ahead, Index parts)
      : at_(ahead.address), left_(ahead.bytes), part_(parts > 0 ? ahead.bytes / parts + line : 0) {}
  DEMIX_INLINE void some() {
    for (Index done = 0; done < part_ && left_ > 0; done += line, left_ -= line, at_ += line) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, behind which there may be nothing
      __builtin_prefetch(reinterpret_cast<const void*>(at_), 0, 3);
    }
  }

 private:
  static constexpr Index line = 64;
  std::uintptr_t at_;
  Index left_, part_;
};

// As many values of S as a lane of T has, and as many doubles.
template <typename S, typename T>
struct Few {
  typedef S Type __attribute__((vector_size(width<T> * sizeof(S)), aligned(sizeof(S)), may_alias));
};

template <typename S, typename T>
DEMIX_INLINE Lane<T> centred(const S* x, const double* origin) {
  using Stored = typename Few<S, T>::Type;
  using Doubles = typename Few<double, T>::Type;
  const Doubles off = __builtin_convertvector(*reinterpret_cast<const Stored*>(x), Doubles) -
                      *reinterpret_cast<const Doubles*>(origin);
  return __builtin_convertvector(off, Lane<T>);
}

template <typename S, typename T>
DEMIX_INLINE void centre_body(const S* from, Index stride, Index frames, Index channels, const double* origin,
                              T* to, Index to_stride) {
  const Index whole = channels / width<T> * width<T>;
  const Index rest = channels - whole;
  // The last channels are loaded as a lane, with what comes after them, which is there but after the last
  // frames, and then made 0.
  const Index memory = (frames - 1) * stride + channels;
  double last_origin[width<T>] = {};
  T kept[width<T>] = {};
  for (Index q = 0; q < rest; ++q) {
    last_origin[q] = origin[whole + q];
    kept[q] = 1;
  }
  const auto keep = load(kept) > 0;
  for (Index t = 0; t < frames; ++t) {
    const S* x = from + t * stride;
    T* y = to + t * to_stride;
    for (Index i = 0; i < whole; i += width<T>) store(y + i, centred<S, T>(x + i, origin + i));
    if (rest == 0) continue;
    if (t * stride + whole + width<T> <= memory) {
      store(y + whole, keep ? centred<S, T>(x + whole, last_origin) : Lane<T>{});
    } else {
      for (Index q = 0; q < width<T>; ++q)
        y[whole + q] = q < rest ? static_cast<T>(static_cast<double>(x[whole + q]) - last_origin[q]) : T{0};
    }
  }
}

DEMIX_CLONES void centre_frames(const double* from, Index stride, Index frames, Index channels,
                                const double* origin, double* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void centre_frames(const double* from, Index stride, Index frames, Index channels,
                                const double* origin, float* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void centre_frames(const float* from, Index stride, Index frames, Index channels,
                                const double* origin, double* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void centre_frames(const float* from, Index stride, Index frames, Index channels,
                                const double* origin, float* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}

DEMIX_CLONES void widen_all(const float* __restrict from, Index count, double* __restrict to) {
  for (Index k = 0; k < count; ++k) to[k] = static_cast<double>(from[k]);
}

// y_i(t) = sum_c p_ic x_c(t) for F frames and C lanes of rows
template <int F, int C, typename T>
DEMIX_INLINE void product_tile(const T* p, Index p_step, Index first, Index channels, const T* x,
                               Index x_stride, T* y, Index y_stride) {
  const T* frames[F];
#pragma GCC unroll 4
  for (int f = 0; f < F; ++f) frames[f] = x + f * x_stride + first;
  Lane<T> sum[F][C] = {};
  add_outer(frames, 1, p + first * p_step, p_step, channels - first, sum);
#pragma GCC unroll 4
  for (int f = 0; f < F; ++f) {
#pragma GCC unroll 4
    for (int c = 0; c < C; ++c) store(y + f * y_stride + c * width<T>, sum[f][c]);
  }
}

template <int F, typename T>
DEMIX_INLINE void product_rows(const T* p, Index rows, const Index* first, Index channels, const T* x,
                               Index x_stride, T* y, Index y_stride) {
  Index i = 0;
  for (; i + 2 * width<T> <= rows; i += 2 * width<T>, ++first)
    product_tile<F, 2>(p + i, rows, *first, channels, x, x_stride, y + i, y_stride);
  if (i < rows) product_tile<F, 1>(p + i, rows, *first, channels, x, x_stride, y + i, y_stride);
}

template <typename T>
DEMIX_INLINE void product_body(const T* p, Index rows, const Index* first, Index channels, const T* x,
                               Index x_stride, Index frames, T* y, Index y_stride, Ahead ahead) {
  Asking next(ahead, frames / 4);
  Index t = 0;
  for (; t + 4 <= frames; t += 4) {
    next.some();
    product_rows<4>(p, rows, first, channels, x + t * x_stride, x_stride, y + t * y_stride, y_stride);
  }
  for (; t < frames; ++t)
    product_rows<1>(p, rows, first, channels, x + t * x_stride, x_stride, y + t * y_stride, y_stride);
}

DEMIX_CLONES void product(const double* p, Index rows, const Index* first, Index channels, const double* x,
                          Index x_stride, Index frames, double* y, Index y_stride, Ahead ahead) {
  product_body(p, rows, first, channels, x, x_stride, frames, y, y_stride, ahead);
}
DEMIX_CLONES void product(const float* p, Index rows, const Index* first, Index channels, const float* x,
                          Index x_stride, Index frames, float* y, Index y_stride, Ahead ahead) {
  product_body(p, rows, first, channels, x, x_stride, frames, y, y_stride, ahead);
}

// s_ij += sum_t x_i(t) y_j(t) for rows i of two lanes and four columns j, or as many as there are
template <typename T>
DEMIX_INLINE void sum_columns(const T* x, Index x_stride, Index rows, const T* y, Index y_stride,
                              Index columns, Index frames, double* s, Index ld) {
  const T* four[] = {y, y + 1, y + 2, y + 3};
  if (rows > width<T>) {
    add_outer_to<2>(four, y_stride, x, x_stride, frames, rows, columns, s, ld);
  } else {
    add_outer_to<1>(four, y_stride, x, x_stride, frames, rows, columns, s, ld);
  }
}

template <typename T>
DEMIX_INLINE void sums_body(const T* x, Index x_stride, Index rows, const T* y, Index y_stride, Index columns,
                            Index frames, double* s) {
  for (Index j = 0; j < columns; j += 4) {
    for (Index i = 0; i < rows; i += 2 * width<T>)
      sum_columns(x + i, x_stride, rows - i, y + j, y_stride, columns - j, frames, s + j * rows + i, rows);
  }
}
DEMIX_CLONES void sums(const double* x, Index x_stride, Index rows, const double* y, Index y_stride,
                       Index columns, Index frames, double* s) {
  sums_body(x, x_stride, rows, y, y_stride, columns, frames, s);
}
DEMIX_CLONES void sums(const float* x, Index x_stride, Index rows, const float* y, Index y_stride,
                       Index columns, Index frames, double* s) {
  sums_body(x, x_stride, rows, y, y_stride, columns, frames, s);
}

// The same of eight rows and the same eight columns, without the quarter that is above the diagonal.
DEMIX_INLINE void sum_corner(const double* x, Index x_stride, const double* y, Index y_stride, Index frames,
                             double* s, Index ld) {
  Lane<double> upper[4] = {};
  Lane<double> lower[8] = {};
  for (Index t = 0; t < frames; ++t) {
    const Lane<double> x0 = load(x + t * x_stride);
    const Lane<double> x1 = load(x + t * x_stride + 4);
#pragma GCC unroll 8
    for (int c = 0; c < 8; ++c) {
      const double scalar = y[t * y_stride + c];
      if (c < 4) upper[c] += scalar * x0;
      lower[c] += scalar * x1;
    }
  }
#pragma GCC unroll 8
  for (int c = 0; c < 8; ++c) {
    if (c < 4) store(s + c * ld, load(s + c * ld) + upper[c]);
    store(s + c * ld + 4, load(s + c * ld + 4) + lower[c]);
  }
}

// From the diagonal on. What is done above it, at its corners, is not looked at.
DEMIX_CLONES void lower_sums(const double* x, Index x_stride, Index rows, const double* y, Index y_stride,
                             Index frames, double* s, Ahead ahead) {
  const Index eights = (rows + 7) / 8;
  Asking next(ahead, eights * eights);
  for (Index j = 0; j < rows; j += 8) {
    double* corner = s + j * rows + j;
    Index i = j;
    if (j + 8 <= rows) {
      next.some();
      sum_corner(x + j, x_stride, y + j, y_stride, frames, corner, rows);
      i += 8;
    }
    for (; i < rows; i += 8) {
      for (Index c = j; c < std::min(rows, j + 8); c += 4) {
        next.some();
        sum_columns(x + i, x_stride, rows - i, y + c, y_stride, rows - c, frames, s + c * rows + i, rows);
      }
    }
  }
}

DEMIX_CLONES void frame_sums(const double* x, Index stride, Index channels, Index frames, double* sum) {
  for (Index i = 0; i < channels; i += width<double>) {
    Lane<double> even = {};
    Lane<double> odd = {};
    Index t = 0;
    for (; t + 2 <= frames; t += 2) {
      even += load(x + t * stride + i);
      odd += load(x + (t + 1) * stride + i);
    }
    if (t < frames) even += load(x + t * stride + i);
    even += odd;
    for (Index q = 0; q < std::min(width<double>, channels - i); ++q) sum[i + q] += even[q];
  }
}

template <typename T>
DEMIX_INLINE void powers_body(const T* x, Index stride, Index channels, Index frames, double* second,
                              double* fourth) {
  for (Index i = 0; i < channels; i += width<T>) {
    Lane<T> squares = {};
    Lane<T> fourths = {};
    for (Index t = 0; t < frames; ++t) {
      const Lane<T> v = load(x + t * stride + i);
      const Lane<T> square = v * v;
      squares += square;
      fourths += square * square;
    }
    for (Index q = 0; q < std::min(width<T>, channels - i); ++q) {
      second[i + q] += static_cast<double>(squares[q]);
      fourth[i + q] += static_cast<double>(fourths[q]);
    }
  }
}
DEMIX_CLONES void powers(const double* x, Index stride, Index channels, Index frames, double* second,
                         double* fourth) {
  powers_body(x, stride, channels, frames, second, fourth);
}
DEMIX_CLONES void powers(const float* x, Index stride, Index channels, Index frames, double* second,
                         double* fourth) {
  powers_body(x, stride, channels, frames, second, fourth);
}

DEMIX_CLONES void lengths(const double* x, Index stride, Index channels, Index frames, double* length) {
  for (Index t = 0; t < frames; ++t) {
    const double* frame = x + t * stride;
    Lane<double> even = {};
    Lane<double> odd = {};
    Index i = 0;
    for (; i + width<double> < channels; i += 2 * width<double>) {
      even += load(frame + i) * load(frame + i);
      odd += load(frame + i + width<double>) * load(frame + i + width<double>);
    }
    if (i < channels) even += load(frame + i) * load(frame + i);
    length[t] = total(even + odd);
  }
}

DEMIX_CLONES void scale(const double* x, Index stride, const double* w, Index channels, Index frames,
                        double* y) {
  for (Index t = 0; t < frames; ++t) {
    for (Index i = 0; i < channels; i += width<double>)
      store(y + t * stride + i, w[t] * load(x + t * stride + i));
  }
}

}  // namespace

template <typename S, typename T>
void centre(const S* from, Index stride, Index frames, const Vector<double>& origin, LineMatrix<T>& to) {
  to.resize(block_stride<T>(origin.size()), frames);
  centre_frames(from, stride, frames, origin.size(), origin.data(), to.data(), to.rows());
}
template void centre(const double*, Index, Index, const Vector<double>&, LineMatrix<double>&);
template void centre(const double*, Index, Index, const Vector<double>&, LineMatrix<float>&);
template void centre(const float*, Index, Index, const Vector<double>&, LineMatrix<double>&);
template void centre(const float*, Index, Index, const Vector<double>&, LineMatrix<float>&);

void widen(const float* from, Index count, double* to) { widen_all(from, count, to); }

template <typename T>
Multiplier<T>::Multiplier(const Matrix<double>& P) : rows(P.rows()), channels(P.cols()) {
  columns.resize(lane_rows<T>(rows), channels);
  columns.setZero();
  columns.topRows(rows) = P.cast<T>();
  for (Index i = 0; i < rows; i += 2 * width<T>) {
    const auto lanes = columns.middleRows(i, std::min(2 * width<T>, columns.rows() - i));
    Index c = 0;
    while (c < channels && lanes.col(c).isZero(0)) ++c;
    first.push_back(c);
  }
}
template struct Multiplier<double>;
template struct Multiplier<float>;

template <typename T>
void multiply(const Multiplier<T>& P, const LineMatrix<T>& X, LineMatrix<T>& Y, Ahead ahead) {
  Y.resize(block_stride<T>(P.rows), X.cols());
  product(P.columns.data(), P.columns.rows(), P.first.data(), P.channels, X.data(), X.rows(), X.cols(),
          Y.data(), Y.rows(), ahead);
}
template void multiply(const Multiplier<double>&, const LineMatrix<double>&, LineMatrix<double>&, Ahead);
template void multiply(const Multiplier<float>&, const LineMatrix<float>&, LineMatrix<float>&, Ahead);

void add_scatter(const LineMatrix<double>& X, const LineMatrix<double>& Y, Matrix<double>& S, Ahead ahead) {
  lower_sums(X.data(), X.rows(), S.rows(), Y.data(), Y.rows(), X.cols(), S.data(), ahead);
}

template <typename T>
void add_product(const LineMatrix<T>& X, const LineMatrix<T>& Y, Matrix<double>& S) {
  sums(X.data(), X.rows(), S.rows(), Y.data(), Y.rows(), S.cols(), X.cols(), S.data());
}
template void add_product(const LineMatrix<double>&, const LineMatrix<double>&, Matrix<double>&);
template void add_product(const LineMatrix<float>&, const LineMatrix<float>&, Matrix<double>&);

void add_sums(const LineMatrix<double>& X, Vector<double>& sum) {
  frame_sums(X.data(), X.rows(), sum.size(), X.cols(), sum.data());
}

template <typename T>
void add_powers(const LineMatrix<T>& X, Vector<double>& second, Vector<double>& fourth) {
  powers(X.data(), X.rows(), second.size(), X.cols(), second.data(), fourth.data());
}
template void add_powers(const LineMatrix<double>&, Vector<double>&, Vector<double>&);
template void add_powers(const LineMatrix<float>&, Vector<double>&, Vector<double>&);

void squared_lengths(const LineMatrix<double>& X, Index channels, Vector<double>& length) {
  length.resize(X.cols());
  lengths(X.data(), X.rows(), channels, X.cols(), length.data());
}

void weigh(const LineMatrix<double>& X, Index channels, const double* w, LineMatrix<double>& Y) {
  Y.resize(X.rows(), X.cols());
  scale(X.data(), X.rows(), w, channels, X.cols(), Y.data());
}

bool fits_float(const Matrix<double>& P) {
  const Eigen::ArrayXd largest = P.cwiseAbs().colwise().maxCoeff();
  return (largest == 0 || (largest > 1e-30 && largest < 1e30)).all();
}

}  // namespace demix
