#include "core/frame_kernels.hpp"

#include <type_traits>

#include "core/tile.hpp"

namespace demix {
namespace {

using Lane = Lanes<double>::Type;
constexpr Index width = 4;

DEMIX_INLINE Lane load(const double* p) { return *reinterpret_cast<const Lane*>(p); }

DEMIX_INLINE void store(double* p, Lane v) { *reinterpret_cast<Lane*>(p) = v; }

// y_r(t) = sum_c p_rc x_c(t) for R rows of P and two lanes of frames. Columns that begin with zeros, as those
// of a triangular P, are passed over.
template <int R, typename T>
DEMIX_INLINE void product_tile(const T* x, const T* p, Index channels, Index frames, Index rows, T* y) {
  using V = typename Lanes<T>::Type;
  constexpr Index lane = 32 / static_cast<Index>(sizeof(T));
  const auto at = [](const T* from) { return *reinterpret_cast<const V*>(from); };
  const auto is_zero = [&](Index c) {
    for (int r = 0; r < R; ++r) {
      if (p[c * rows + r] != 0) return false;
    }
    return true;
  };
  Index first = 0;
  while (first < channels && is_zero(first)) ++first;
  for (Index t = 0; t < frames; t += 2 * lane) {
    // Frames are a multiple of 8: of floats the last lane may stand alone.
    const Index second = t + lane < frames ? t + lane : t;
    V low[R] = {};
    V high[R] = {};
    for (Index c = first; c < channels; ++c) {
      const V x0 = at(x + c * frames + t);
      const V x1 = at(x + c * frames + second);
#pragma GCC unroll 4
      for (int r = 0; r < R; ++r) {
        low[r] += p[c * rows + r] * x0;
        high[r] += p[c * rows + r] * x1;
      }
    }
#pragma GCC unroll 4
    for (int r = 0; r < R; ++r) {
      *reinterpret_cast<V*>(y + r * frames + second) = high[r];
      *reinterpret_cast<V*>(y + r * frames + t) = low[r];
    }
  }
}

// Four values, whatever they are.
template <typename T>
struct Four {
  typedef T Type __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));
};

// Of four channels the values of a frame, and of a float also those of the frame four later, less their
// origin. From floats it is taken away in two parts, so that it need not be a float itself.
template <typename S, typename T>
DEMIX_INLINE typename Lanes<T>::Type centred(const S* from, Index stride, Lane origin) {
  using Stored = typename Four<S>::Type;
  using Few = typename Four<T>::Type;
  const auto both = [](Few low, Few high) {
    return __builtin_shufflevector(low, high, 0, 1, 2, 3, 4, 5, 6, 7);
  };
  const auto at = [&](Index t) { return *reinterpret_cast<const Stored*>(from + t * stride); };
  if constexpr (std::is_same_v<T, double>) {
    return __builtin_convertvector(at(0), Lane) - origin;
  } else if constexpr (std::is_same_v<S, double>) {
    return both(__builtin_convertvector(at(0) - origin, Few), __builtin_convertvector(at(4) - origin, Few));
  } else {
    const Few most = __builtin_convertvector(origin, Few);
    const Few rest = __builtin_convertvector(origin - __builtin_convertvector(most, Lane), Few);
    return (both(at(0), at(4)) - both(most, most)) - both(rest, rest);
  }
}

// Tiles of 4 x 4, or 8 x 4 floats, turned in registers.
template <typename S, typename T>
DEMIX_INLINE void turn_body(const S* from, Index stride, Index frames, Index channels, const double* origin,
                            T* to, Index rows) {
  using V = typename Lanes<T>::Type;
  constexpr Index lane = 32 / static_cast<Index>(sizeof(T));
  const auto put = [](T* p, V v) { *reinterpret_cast<V*>(p) = v; };
  const auto one = [&](Index i, Index k) {
    to[i * rows + k] = static_cast<T>(static_cast<double>(from[k * stride + i]) - origin[i]);
  };
  const Index whole = channels - channels % 4;
  Index t = 0;
  for (; t + lane <= frames; t += lane) {
    // What comes next is asked for a page ahead.
    const auto* next = reinterpret_cast<const char*>(from + t * stride) + 4096;
    for (Index b = 0; b < lane * stride * static_cast<Index>(sizeof(S)); b += 64)
      __builtin_prefetch(next + b);
    for (Index i = 0; i < whole; i += 4) {
      const Lane o = load(origin + i);
      const S* x = from + t * stride + i;
      V a = centred<S, T>(x, stride, o);
      V b = centred<S, T>(x + stride, stride, o);
      V c = centred<S, T>(x + 2 * stride, stride, o);
      V d = centred<S, T>(x + 3 * stride, stride, o);
      turn_four(a, b, c, d);
      T* y = to + i * rows + t;
      put(y, a);
      put(y + rows, b);
      put(y + 2 * rows, c);
      put(y + 3 * rows, d);
    }
    for (Index i = whole; i < channels; ++i) {
      for (Index k = t; k < t + lane; ++k) one(i, k);
    }
  }
  for (; t < frames; ++t) {
    for (Index i = 0; i < channels; ++i) one(i, t);
  }
}

DEMIX_CLONES void turn_tiles(const double* from, Index stride, Index frames, Index channels,
                             const double* origin, double* to, Index rows) {
  turn_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void turn_tiles(const double* from, Index stride, Index frames, Index channels,
                             const double* origin, float* to, Index rows) {
  turn_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void turn_tiles(const float* from, Index stride, Index frames, Index channels,
                             const double* origin, double* to, Index rows) {
  turn_body(from, stride, frames, channels, origin, to, rows);
}
DEMIX_CLONES void turn_tiles(const float* from, Index stride, Index frames, Index channels,
                             const double* origin, float* to, Index rows) {
  turn_body(from, stride, frames, channels, origin, to, rows);
}

DEMIX_CLONES void widen_all(const float* __restrict from, Index count, double* __restrict to) {
  for (Index k = 0; k < count; ++k) to[k] = static_cast<double>(from[k]);
}

// Tiles of 3 x 4, from the diagonal on if `lower`: whole ones, also where they reach above it, which is not
// looked at.
template <bool lower, typename T>
DEMIX_INLINE void sums_body(const T* y, Index rows, const T* x, Index columns, Index frames, double* s) {
  const auto row = [&](Index i) { return y + i * frames; };
  Index j = 0;
  for (; j + 4 <= columns; j += 4) {
    Index i = lower ? j : 0;
    for (; i + 3 <= rows; i += 3) {
      const T* three[] = {row(i), row(i + 1), row(i + 2)};
      sum_tile<3, 4>(three, x + j * frames, frames, 1, s + j * rows + i, rows);
    }
    if (i + 2 == rows) {
      const T* two[] = {row(i), row(i + 1)};
      sum_tile<2, 4>(two, x + j * frames, frames, 1, s + j * rows + i, rows);
    } else if (i < rows) {
      const T* one[] = {row(i)};
      sum_tile<1, 4>(one, x + j * frames, frames, 1, s + j * rows + i, rows);
    }
  }
  for (; j < columns; ++j) {
    for (Index i = lower ? j : 0; i < rows; ++i) {
      const T* one[] = {row(i)};
      sum_tile<1, 1>(one, x + j * frames, frames, 1, s + j * rows + i, rows);
    }
  }
}

DEMIX_CLONES void sums(const double* y, Index rows, const double* x, Index columns, Index frames, double* s) {
  sums_body<false>(y, rows, x, columns, frames, s);
}
DEMIX_CLONES void sums(const float* y, Index rows, const float* x, Index columns, Index frames, double* s) {
  sums_body<false>(y, rows, x, columns, frames, s);
}
DEMIX_CLONES void lower_sums(const double* y, const double* x, Index channels, Index frames, double* s) {
  sums_body<true>(y, channels, x, channels, frames, s);
}

// sum_i = sum_t x_i(t)
DEMIX_CLONES void channel_sums(const double* x, Index channels, Index frames, double* sum) {
  for (Index i = 0; i < channels; ++i) {
    Lane low = {};
    Lane high = {};
    for (Index t = 0; t < frames; t += 2 * width) {
      low += load(x + i * frames + t);
      high += load(x + i * frames + t + width);
    }
    sum[i] = total(low + high);
  }
}

template <typename T>
DEMIX_INLINE void powers_body(const T* x, Index channels, Index frames, double* second, double* fourth) {
  using V = typename Lanes<T>::Type;
  constexpr Index lane = 32 / static_cast<Index>(sizeof(T));
  for (Index i = 0; i < channels; ++i) {
    V squares = {};
    V fourths = {};
    for (Index t = 0; t < frames; t += lane) {
      const V v = *reinterpret_cast<const V*>(x + i * frames + t);
      const V square = v * v;
      squares += square;
      fourths += square * square;
    }
    second[i] += total(squares);
    fourth[i] += total(fourths);
  }
}
DEMIX_CLONES void powers(const double* x, Index channels, Index frames, double* second, double* fourth) {
  powers_body(x, channels, frames, second, fourth);
}
DEMIX_CLONES void powers(const float* x, Index channels, Index frames, double* second, double* fourth) {
  powers_body(x, channels, frames, second, fourth);
}

// length_t = sum_i x_i(t)^2
DEMIX_CLONES void lengths(const double* x, Index channels, Index frames, double* length) {
  for (Index t = 0; t < frames; t += width) {
    Lane sum = {};
    for (Index i = 0; i < channels; ++i) {
      const Lane v = load(x + i * frames + t);
      sum += v * v;
    }
    store(length + t, sum);
  }
}

DEMIX_CLONES void scale(const double* x, const double* w, Index channels, Index frames, double* y) {
  for (Index i = 0; i < channels; ++i) {
    for (Index t = 0; t < frames; t += width)
      store(y + i * frames + t, load(w + t) * load(x + i * frames + t));
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

template <typename T>
DEMIX_INLINE void product_body(const T* x, const T* p, Index channels, Index frames, Index rows, T* y) {
  Index r = 0;
  for (; r + 4 <= rows; r += 4) product_tile<4>(x, p + r, channels, frames, rows, y + r * frames);
  for (; r < rows; ++r) product_tile<1>(x, p + r, channels, frames, rows, y + r * frames);
}

DEMIX_CLONES void product(const double* x, const double* p, Index channels, Index frames, Index rows,
                          double* y) {
  product_body(x, p, channels, frames, rows, y);
}
DEMIX_CLONES void product(const float* x, const float* p, Index channels, Index frames, Index rows,
                          float* y) {
  product_body(x, p, channels, frames, rows, y);
}

}  // namespace

template <typename S, typename T>
void turn(const S* from, Index stride, Index frames, const Vector<double>& origin, T* to, Index rows) {
  turn_tiles(from, stride, frames, origin.size(), origin.data(), to, rows);
}
template void turn(const double*, Index, Index, const Vector<double>&, double*, Index);
template void turn(const double*, Index, Index, const Vector<double>&, float*, Index);
template void turn(const float*, Index, Index, const Vector<double>&, double*, Index);
template void turn(const float*, Index, Index, const Vector<double>&, float*, Index);

void widen(const float* from, Index count, double* to) { widen_all(from, count, to); }

void add_scatter(const Matrix<double>& Y, const Matrix<double>& X, Matrix<double>& S) {
  lower_sums(Y.data(), X.data(), X.cols(), X.rows(), S.data());
}

template <typename T>
void add_product(const Matrix<T>& Y, const Matrix<T>& X, Matrix<double>& S) {
  sums(Y.data(), Y.cols(), X.data(), X.cols(), X.rows(), S.data());
}
template void add_product(const Matrix<double>&, const Matrix<double>&, Matrix<double>&);
template void add_product(const Matrix<float>&, const Matrix<float>&, Matrix<double>&);

void sum_frames(const Matrix<double>& X, Vector<double>& sum) {
  sum.resize(X.cols());
  channel_sums(X.data(), X.cols(), X.rows(), sum.data());
}

template <typename T>
void add_powers(const Matrix<T>& X, Vector<double>& second, Vector<double>& fourth) {
  powers(X.data(), X.cols(), X.rows(), second.data(), fourth.data());
}
template void add_powers(const Matrix<double>&, Vector<double>&, Vector<double>&);
template void add_powers(const Matrix<float>&, Vector<double>&, Vector<double>&);

void squared_lengths(const Matrix<double>& X, Vector<double>& length) {
  length.resize(X.rows());
  lengths(X.data(), X.cols(), X.rows(), length.data());
}

void weigh(const Matrix<double>& X, const double* w, Matrix<double>& Y) {
  Y.resize(X.rows(), X.cols());
  scale(X.data(), w, X.cols(), X.rows(), Y.data());
}

void add_selected_products(const Matrix<double>& X, const std::vector<Index>& rows, Matrix<double>& S) {
  products(X.data(), X.rows(), rows.data(), static_cast<Index>(rows.size()), S.cols(), S.data());
}

bool fits_float(const Matrix<double>& P) {
  const Eigen::ArrayXd largest = P.cwiseAbs().colwise().maxCoeff();
  return (largest == 0 || (largest > 1e-30 && largest < 1e30)).all();
}

template <typename T>
void multiply(const Matrix<T>& X, const Matrix<T>& P, Matrix<T>& Y) {
  Y.resize(X.rows(), P.rows());
  product(X.data(), P.data(), X.cols(), X.rows(), P.rows(), Y.data());
}
template void multiply(const Matrix<double>&, const Matrix<double>&, Matrix<double>&);
template void multiply(const Matrix<float>&, const Matrix<float>&, Matrix<float>&);

}  // namespace demix
