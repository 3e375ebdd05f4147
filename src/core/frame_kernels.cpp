#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/frame_kernels.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "core/frame_kernels.hpp"
#include "core/simd-inl.hpp"
#include "core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

// Prefetches what is ahead in so many equal parts: all at once would have to wait for one another.
class Prefetcher {
 public:
  HWY_INLINE Prefetcher(Ahead ahead, Index parts)
      : at_(ahead.address), left_(ahead.bytes), part_(parts > 0 ? ahead.bytes / parts + line : 0) {}
  HWY_INLINE void next_part() {
    for (Index done = 0; done < part_ && left_ > 0; done += line, left_ -= line, at_ += line) {
      // NOLINTNEXTLINE(performance-no-int-to-ptr): an address, behind which there may be nothing
      hwy::Prefetch(reinterpret_cast<const char*>(at_));
    }
  }

 private:
  static constexpr Index line = 64;
  std::uintptr_t at_;
  Index left_, part_;
};

template <class D>
HWY_INLINE Vec<D> load_as_double(D d, const double* x) {
  return hn::LoadU(d, x);
}
template <class D>
HWY_INLINE Vec<D> load_as_double(D d, const float* x) {
  return hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, D>(), x));
}
template <class D>
HWY_INLINE void store_from_double(D d, Vec<D> v, double* y) {
  hn::StoreU(v, d, y);
}
template <class D>
HWY_INLINE void store_from_double(D, Vec<D> v, float* y) {
  const hn::Rebind<float, D> narrow;
  hn::StoreU(hn::DemoteTo(narrow, v), narrow, y);
}

template <typename S, typename T>
HWY_INLINE void centre_body(const S* HWY_RESTRICT from, Index stride, Index frames, Index channels,
                            const double* HWY_RESTRICT origin, T* HWY_RESTRICT to, Index to_stride) {
  const Full<double> full;
  const Unit<double> small;
  const Index rows = lane_rows<T>(channels);
  // The last channels are loaded as a vector, with what comes after them, which is there but after the last
  // frames, and then made 0.
  const Index memory = (frames - 1) * stride + channels;
  const Index rest = channels / lanes(small) * lanes(small);
  double last_origin[4] = {};
  for (Index q = 0; q < channels - rest; ++q) last_origin[q] = origin[rest + q];
  const auto keep = hn::FirstN(small, static_cast<std::size_t>(channels - rest));
  for (Index t = 0; t < frames; ++t) {
    const S* x = from + t * stride;
    T* y = to + t * to_stride;
    Index i = 0;
    for (; i + lanes(full) <= channels; i += lanes(full))
      store_from_double(full, hn::Sub(load_as_double(full, x + i), hn::LoadU(full, origin + i)), y + i);
    for (; i + lanes(small) <= channels; i += lanes(small))
      store_from_double(small, hn::Sub(load_as_double(small, x + i), hn::LoadU(small, origin + i)), y + i);
    if (i < channels) {
      if (t * stride + i + lanes(small) <= memory) {
        const auto off = hn::Sub(load_as_double(small, x + i), hn::LoadU(small, last_origin));
        store_from_double(small, hn::IfThenElseZero(keep, off), y + i);
      } else {
        for (Index q = 0; q < lanes(small); ++q)
          y[i + q] = i + q < channels ? static_cast<T>(static_cast<double>(x[i + q]) - last_origin[q]) : T{0};
      }
      i += lanes(small);
    }
    for (; i < rows; i += lanes(small)) store_from_double(small, hn::Zero(small), y + i);
  }
}
void CentreDouble(const double* from, Index stride, Index frames, Index channels, const double* origin,
                  double* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
void CentreDoubleToFloat(const double* from, Index stride, Index frames, Index channels, const double* origin,
                         float* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
void CentreFloatToDouble(const float* from, Index stride, Index frames, Index channels, const double* origin,
                         double* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}
void CentreFloat(const float* from, Index stride, Index frames, Index channels, const double* origin,
                 float* to, Index rows) {
  centre_body(from, stride, frames, channels, origin, to, rows);
}

void Widen(const float* HWY_RESTRICT from, Index count, double* HWY_RESTRICT to) {
  const Full<double> d;
  Index k = 0;
  for (; k + lanes(d) <= count; k += lanes(d)) hn::StoreU(load_as_double(d, from + k), d, to + k);
  for (; k < count; ++k) to[k] = static_cast<double>(from[k]);
}

// y_i(t) = sum_c p_ic x_c(t) for F frames and C vectors of rows
template <int F, int C, class D, typename T>
HWY_INLINE void product_tile(D d, const T* p, Index p_step, Index first, Index channels, const T* x,
                             Index x_stride, T* y, Index y_stride) {
  const T* frames[F];
  for (int f = 0; f < F; ++f) frames[f] = x + f * x_stride + first;
  Vec<D> sum[F][C];
  set_zero(d, sum);
  add_outer(d, frames, 1, p + first * p_step, p_step, channels - first, sum);
  for (int f = 0; f < F; ++f) {
    for (int c = 0; c < C; ++c) hn::StoreU(sum[f][c], d, y + f * y_stride + c * lanes(d));
  }
}

template <int F, typename T>
HWY_INLINE void product_rows(const T* p, Index rows, const Index* first, Index channels, const T* x,
                             Index x_stride, T* y, Index y_stride) {
  const Full<T> full;
  const Unit<T> small;
  const Index width = lanes(full);
  const auto first_of = [&](Index i) HWY_ATTR { return first[i / unit<T>]; };
  Index i = 0;
  for (; i + 2 * width <= rows; i += 2 * width)
    product_tile<F, 2>(full, p + i, rows, first_of(i), channels, x, x_stride, y + i, y_stride);
  if (i + width <= rows) {
    product_tile<F, 1>(full, p + i, rows, first_of(i), channels, x, x_stride, y + i, y_stride);
    i += width;
  }
  if (i < rows) product_tile<F, 1>(small, p + i, rows, first_of(i), channels, x, x_stride, y + i, y_stride);
}

template <typename T>
HWY_INLINE void product_body(const T* p, Index rows, const Index* first, Index channels, const T* x,
                             Index x_stride, Index frames, T* y, Index y_stride, Ahead ahead) {
  constexpr int some = most_scalars;
  Prefetcher prefetcher(ahead, frames / some);
  Index t = 0;
  for (; t + some <= frames; t += some) {
    prefetcher.next_part();
    product_rows<some>(p, rows, first, channels, x + t * x_stride, x_stride, y + t * y_stride, y_stride);
  }
  for (; t < frames; ++t)
    product_rows<1>(p, rows, first, channels, x + t * x_stride, x_stride, y + t * y_stride, y_stride);
}
void ProductDouble(const double* p, Index rows, const Index* first, Index channels, const double* x,
                   Index x_stride, Index frames, double* y, Index y_stride, Ahead ahead) {
  product_body(p, rows, first, channels, x, x_stride, frames, y, y_stride, ahead);
}
void ProductFloat(const float* p, Index rows, const Index* first, Index channels, const float* x,
                  Index x_stride, Index frames, float* y, Index y_stride, Ahead ahead) {
  product_body(p, rows, first, channels, x, x_stride, frames, y, y_stride, ahead);
}

// s_ij += sum_t x_i(t) y_j(t)
template <typename T>
HWY_INLINE void sums_body(const T* x, Index x_stride, Index rows, const T* y, Index y_stride, Index columns,
                          Index frames, double* s) {
  const auto some = [&]<int R>(std::integral_constant<int, R>, Index j) HWY_ATTR {
    const T* at[R];
    for (int r = 0; r < R; ++r) at[r] = y + j + r;
    add_outer_rows(at, y_stride, x, x_stride, frames, rows, columns - j, s + j * rows, rows);
  };
  Index j = 0;
  for (; j + most_scalars <= columns; j += most_scalars) some(std::integral_constant<int, most_scalars>(), j);
  for (; j < columns; j += 4) some(std::integral_constant<int, 4>(), j);
}
void SumsDouble(const double* x, Index x_stride, Index rows, const double* y, Index y_stride, Index columns,
                Index frames, double* s) {
  sums_body(x, x_stride, rows, y, y_stride, columns, frames, s);
}
void SumsFloat(const float* x, Index x_stride, Index rows, const float* y, Index y_stride, Index columns,
               Index frames, double* s) {
  sums_body(x, x_stride, rows, y, y_stride, columns, frames, s);
}

// The same from the vector of rows on that holds the diagonal. What it adds above the diagonal is not looked
// at.
template <typename T>
HWY_INLINE void lower_body(const T* x, Index x_stride, Index rows, const T* y, Index y_stride, Index frames,
                           double* s, Ahead ahead) {
  const Index width = std::max(lanes(Full<T>()), unit<T>);
  Prefetcher prefetcher(ahead, rows / most_scalars + (rows % most_scalars + 3) / 4);
  const auto some = [&]<int R>(std::integral_constant<int, R>, Index j) HWY_ATTR {
    prefetcher.next_part();
    const Index i = j / width * width;
    const T* at[R];
    for (int r = 0; r < R; ++r) at[r] = y + j + r;
    add_outer_rows(at, y_stride, x + i, x_stride, frames, rows - i, rows - j, s + j * rows + i, rows);
  };
  Index j = 0;
  for (; j + most_scalars <= rows; j += most_scalars) some(std::integral_constant<int, most_scalars>(), j);
  for (; j < rows; j += 4) some(std::integral_constant<int, 4>(), j);
}
void LowerSumsDouble(const double* x, Index x_stride, Index rows, const double* y, Index y_stride,
                     Index frames, double* s, Ahead ahead) {
  lower_body(x, x_stride, rows, y, y_stride, frames, s, ahead);
}
void LowerSumsFloat(const float* x, Index x_stride, Index rows, const float* y, Index y_stride, Index frames,
                    double* s, Ahead ahead) {
  lower_body(x, x_stride, rows, y, y_stride, frames, s, ahead);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {

HWY_EXPORT(CentreDouble);
HWY_EXPORT(CentreDoubleToFloat);
HWY_EXPORT(CentreFloatToDouble);
HWY_EXPORT(CentreFloat);
HWY_EXPORT(Widen);
HWY_EXPORT(ProductDouble);
HWY_EXPORT(ProductFloat);
HWY_EXPORT(SumsDouble);
HWY_EXPORT(SumsFloat);
HWY_EXPORT(LowerSumsDouble);
HWY_EXPORT(LowerSumsFloat);

}  // namespace

template <>
void centre(const double* from, Index stride, Index frames, const Vector<double>& origin,
            LineMatrix<double>& to) {
  to.resize(block_stride<double>(origin.size()), frames);
  DEMIX_DISPATCH(CentreDouble)(from, stride, frames, origin.size(), origin.data(), to.data(), to.rows());
}
template <>
void centre(const double* from, Index stride, Index frames, const Vector<double>& origin,
            LineMatrix<float>& to) {
  to.resize(block_stride<float>(origin.size()), frames);
  DEMIX_DISPATCH(CentreDoubleToFloat)
  (from, stride, frames, origin.size(), origin.data(), to.data(), to.rows());
}
template <>
void centre(const float* from, Index stride, Index frames, const Vector<double>& origin,
            LineMatrix<double>& to) {
  to.resize(block_stride<double>(origin.size()), frames);
  DEMIX_DISPATCH(CentreFloatToDouble)
  (from, stride, frames, origin.size(), origin.data(), to.data(), to.rows());
}
template <>
void centre(const float* from, Index stride, Index frames, const Vector<double>& origin,
            LineMatrix<float>& to) {
  to.resize(block_stride<float>(origin.size()), frames);
  DEMIX_DISPATCH(CentreFloat)(from, stride, frames, origin.size(), origin.data(), to.data(), to.rows());
}

void widen(const float* from, Index count, double* to) { DEMIX_DISPATCH(Widen)(from, count, to); }

template <typename T>
Multiplier<T>::Multiplier(const Matrix<double>& P) : rows(P.rows()), channels(P.cols()) {
  columns.resize(lane_rows<T>(rows), channels);
  columns.setZero();
  columns.topRows(rows) = P.cast<T>();
  constexpr Index unit = 32 / sizeof(T);
  first.assign(static_cast<std::size_t>(columns.rows() / unit), channels);
  for (Index u = std::ssize(first) - 1; u >= 0; --u) {
    const auto some = columns.middleRows(u * unit, unit);
    Index c = 0;
    while (c < channels && some.col(c).isZero(0)) ++c;
    const auto at = static_cast<std::size_t>(u);
    first[at] = at + 1 < first.size() ? std::min(c, first[at + 1]) : c;
  }
}
template struct Multiplier<double>;
template struct Multiplier<float>;

template <typename T>
void multiply(const Multiplier<T>& P, const LineMatrix<T>& X, LineMatrix<T>& Y, Ahead ahead) {
  Y.resize(block_stride<T>(P.rows), X.cols());
  simd::one_of<T>(&DEMIX_DISPATCH(ProductDouble), &DEMIX_DISPATCH(ProductFloat))(
      P.columns.data(), P.columns.rows(), P.first.data(), P.channels, X.data(), X.rows(), X.cols(), Y.data(),
      Y.rows(), ahead);
}
template void multiply(const Multiplier<double>&, const LineMatrix<double>&, LineMatrix<double>&, Ahead);
template void multiply(const Multiplier<float>&, const LineMatrix<float>&, LineMatrix<float>&, Ahead);

template <typename T>
void add_scatter(const LineMatrix<T>& X, const LineMatrix<T>& Y, Matrix<double>& S, Ahead ahead) {
  simd::one_of<T>(&DEMIX_DISPATCH(LowerSumsDouble), &DEMIX_DISPATCH(LowerSumsFloat))(
      X.data(), X.rows(), S.rows(), Y.data(), Y.rows(), X.cols(), S.data(), ahead);
}
template void add_scatter(const LineMatrix<double>&, const LineMatrix<double>&, Matrix<double>&, Ahead);
template void add_scatter(const LineMatrix<float>&, const LineMatrix<float>&, Matrix<double>&, Ahead);

template <typename T>
void add_product(const LineMatrix<T>& X, const LineMatrix<T>& Y, Matrix<double>& S) {
  simd::one_of<T>(&DEMIX_DISPATCH(SumsDouble), &DEMIX_DISPATCH(SumsFloat))(
      X.data(), X.rows(), S.rows(), Y.data(), Y.rows(), S.cols(), X.cols(), S.data());
}
template void add_product(const LineMatrix<double>&, const LineMatrix<double>&, Matrix<double>&);
template void add_product(const LineMatrix<float>&, const LineMatrix<float>&, Matrix<double>&);

bool fits_float(const Matrix<double>& P) {
  const Eigen::ArrayXd largest = P.cwiseAbs().colwise().maxCoeff();
  return (largest == 0 || (largest > 1e-30 && largest < 1e30)).all();
}

}  // namespace demix
#endif
