#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/frame_sums.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "core/frame_kernels.hpp"
#include "core/simd-inl.hpp"
#include "core/simd.hpp"

// Of each channel, its sum and powers; of each frame, its length, and its product with a weight.
HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

// f(tag, row) for the vectors that the rows of so many channels take.
template <typename T, class F>
HWY_INLINE void for_each_vector(Index channels, const F& f) {
  const Full<T> full;
  const Unit<T> small;
  const Index rows = (channels + unit<T> - 1) / unit<T> * unit<T>;
  Index i = 0;
  for (; i + lanes(full) <= rows; i += lanes(full)) f(full, i);
  for (; i < rows; i += lanes(small)) f(small, i);
}

void FrameSums(const double* x, Index stride, Index channels, Index frames, double* sum) {
  for_each_vector<double>(channels, [&](auto d, Index i) HWY_ATTR {
    auto even = hn::Zero(d);
    auto odd = hn::Zero(d);
    Index t = 0;
    for (; t + 2 <= frames; t += 2) {
      even = hn::Add(even, hn::LoadU(d, x + t * stride + i));
      odd = hn::Add(odd, hn::LoadU(d, x + (t + 1) * stride + i));
    }
    if (t < frames) even = hn::Add(even, hn::LoadU(d, x + t * stride + i));
    add_to(d, hn::Add(even, odd), channels - i, sum + i);
  });
}

template <typename T>
HWY_INLINE void powers_body(const T* x, Index stride, Index channels, Index frames, double* first,
                            double* second, double* fourth, double* largest) {
  for_each_vector<T>(channels, [&](auto d, Index i) HWY_ATTR {
    auto sums = hn::Zero(d);
    auto squares = hn::Zero(d);
    auto fourths = hn::Zero(d);
    auto most = hn::Zero(d);  // of the squares
    for (Index t = 0; t < frames; ++t) {
      const auto v = hn::LoadU(d, x + t * stride + i);
      const auto square = hn::Mul(v, v);
      sums = hn::Add(sums, v);
      squares = hn::Add(squares, square);
      fourths = hn::MulAdd(square, square, fourths);
      most = hn::Max(most, square);
    }
    add_to(d, sums, channels - i, first + i);
    add_to(d, squares, channels - i, second + i);
    add_to(d, fourths, channels - i, fourth + i);
    HWY_ALIGN T values[most_lanes<decltype(d)>];
    hn::Store(hn::Sqrt(most), d, values);
    for (Index q = 0; q < std::min(lanes(d), channels - i); ++q)
      largest[i + q] = static_cast<double>(values[q]);
  });
}
void PowersDouble(const double* x, Index stride, Index channels, Index frames, double* first, double* second,
                  double* fourth, double* largest) {
  powers_body(x, stride, channels, frames, first, second, fourth, largest);
}
void PowersFloat(const float* x, Index stride, Index channels, Index frames, double* first, double* second,
                 double* fourth, double* largest) {
  powers_body(x, stride, channels, frames, first, second, fourth, largest);
}

template <typename T>
HWY_INLINE void lengths_body(const T* x, Index stride, Index channels, Index frames, double* length) {
  const Full<T> full;
  const Unit<T> small;
  const Index rows = lane_rows<T>(channels);
  for (Index t = 0; t < frames; ++t) {
    const T* frame = x + t * stride;
    auto sum = hn::Zero(full);
    Index i = 0;
    for (; i + lanes(full) <= rows; i += lanes(full)) {
      const auto v = hn::LoadU(full, frame + i);
      sum = hn::MulAdd(v, v, sum);
    }
    auto rest = hn::Zero(small);
    for (; i < rows; i += lanes(small)) {
      const auto v = hn::LoadU(small, frame + i);
      rest = hn::MulAdd(v, v, rest);
    }
    length[t] =
        (rows >= lanes(full) ? total(full, sum) : 0) + (rows % lanes(full) > 0 ? total(small, rest) : 0);
  }
}
void LengthsDouble(const double* x, Index stride, Index channels, Index frames, double* length) {
  lengths_body(x, stride, channels, frames, length);
}
void LengthsFloat(const float* x, Index stride, Index channels, Index frames, double* length) {
  lengths_body(x, stride, channels, frames, length);
}

template <typename T>
HWY_INLINE void scale_body(const T* x, Index stride, const double* w, Index channels, Index frames, T* y) {
  for (Index t = 0; t < frames; ++t) {
    for_each_vector<T>(channels, [&](auto d, Index i) HWY_ATTR {
      const auto v = hn::LoadU(d, x + t * stride + i);
      hn::StoreU(hn::Mul(hn::Set(d, static_cast<T>(w[t])), v), d, y + t * stride + i);
    });
  }
}
void ScaleDouble(const double* x, Index stride, const double* w, Index channels, Index frames, double* y) {
  scale_body(x, stride, w, channels, frames, y);
}
void ScaleFloat(const float* x, Index stride, const double* w, Index channels, Index frames, float* y) {
  scale_body(x, stride, w, channels, frames, y);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {

HWY_EXPORT(FrameSums);
HWY_EXPORT(PowersDouble);
HWY_EXPORT(PowersFloat);
HWY_EXPORT(LengthsDouble);
HWY_EXPORT(LengthsFloat);
HWY_EXPORT(ScaleDouble);
HWY_EXPORT(ScaleFloat);

}  // namespace

void add_sums(const LineMatrix<double>& X, Vector<double>& sum) {
  DEMIX_DISPATCH(FrameSums)(X.data(), X.rows(), sum.size(), X.cols(), sum.data());
}

template <typename T>
void add_powers(const LineMatrix<T>& X, Powers sums) {
  simd::one_of<T>(&DEMIX_DISPATCH(PowersDouble), &DEMIX_DISPATCH(PowersFloat))(
      X.data(), X.rows(), sums.first.size(), X.cols(), sums.first.data(), sums.second.data(),
      sums.fourth.data(), sums.largest.data());
}
template void add_powers(const LineMatrix<double>&, Powers);
template void add_powers(const LineMatrix<float>&, Powers);

template <typename T>
void squared_lengths(const LineMatrix<T>& X, Index channels, Vector<double>& length) {
  length.resize(X.cols());
  simd::one_of<T>(&DEMIX_DISPATCH(LengthsDouble), &DEMIX_DISPATCH(LengthsFloat))(X.data(), X.rows(), channels,
                                                                                 X.cols(), length.data());
}
template void squared_lengths(const LineMatrix<double>&, Index, Vector<double>&);
template void squared_lengths(const LineMatrix<float>&, Index, Vector<double>&);

template <typename T>
void weigh(const LineMatrix<T>& X, Index channels, const double* w, LineMatrix<T>& Y) {
  Y.resize(X.rows(), X.cols());
  simd::one_of<T>(&DEMIX_DISPATCH(ScaleDouble), &DEMIX_DISPATCH(ScaleFloat))(X.data(), X.rows(), w, channels,
                                                                             X.cols(), Y.data());
}
template void weigh(const LineMatrix<double>&, Index, const double*, LineMatrix<double>&);
template void weigh(const LineMatrix<float>&, Index, const double*, LineMatrix<float>&);

}  // namespace demix
#endif
