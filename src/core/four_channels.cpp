#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/four_channels.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "core/four_channels.hpp"
#include "core/simd-inl.hpp"
#include "core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

using FourTag = Full<double>;
using FourVec = Vec<FourTag>;

// Frames from memory, one vector of each channel: x_i holds channel i of as many frames as a vector has
// values.
struct FourRows {
  FourVec x0, x1, x2, x3;
};
HWY_INLINE FourRows load_rows(FourTag d, const double* x, Index step, const FourVec (&origin)[4]) {
  FourVec v[4];
  if (step == 4) {
    hn::LoadInterleaved4(d, x, v[0], v[1], v[2], v[3]);
  } else {
    HWY_ALIGN double rows[4][most_lanes<FourTag>];
    for (Index t = 0; t < lanes(d); ++t) {
      for (Index i = 0; i < 4; ++i) rows[i][t] = x[t * step + i];
    }
    for (Index i = 0; i < 4; ++i) v[i] = hn::Load(d, rows[i]);
  }
  return {hn::Sub(v[0], origin[0]), hn::Sub(v[1], origin[1]), hn::Sub(v[2], origin[2]),
          hn::Sub(v[3], origin[3])};
}

// use(rows) with all frames, some at a time; the last are filled up with frames that are 0.
template <typename Use>
HWY_INLINE void for_each_rows(const double* from, Index stride, Index frames, const double* origin,
                              const Use& use) {
  const FourTag d;
  const FourVec o[4] = {hn::Set(d, origin[0]), hn::Set(d, origin[1]), hn::Set(d, origin[2]),
                        hn::Set(d, origin[3])};
  Index t = 0;
  for (; t + lanes(d) <= frames; t += lanes(d)) {
    const double* x = from + t * stride;
    for (Index line = 0; line < lanes(d) / 2; ++line) hwy::Prefetch(x + 512 + 8 * line);  // a page ahead
    use(load_rows(d, x, stride, o));
  }
  if (t == frames) return;
  double rest[4 * most_lanes<FourTag>];
  for (Index k = 0; k < 4 * lanes(d); ++k)
    rest[k] = t + k / 4 < frames ? from[(t + k / 4) * stride + k % 4] : origin[k % 4];
  use(load_rows(d, rest, 4, o));
}

// The lower triangle of a symmetric 4 x 4 matrix of sums.
struct FourTriangle {
  FourVec s[4][4];

  HWY_INLINE FourTriangle() {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) s[i][j] = hn::Zero(FourTag());
    }
  }
  // + y x^T
  HWY_INLINE void add(const FourRows& y, const FourRows& x) {
    s[0][0] = hn::MulAdd(y.x0, x.x0, s[0][0]);
    s[1][0] = hn::MulAdd(y.x1, x.x0, s[1][0]);
    s[2][0] = hn::MulAdd(y.x2, x.x0, s[2][0]);
    s[3][0] = hn::MulAdd(y.x3, x.x0, s[3][0]);
    s[1][1] = hn::MulAdd(y.x1, x.x1, s[1][1]);
    s[2][1] = hn::MulAdd(y.x2, x.x1, s[2][1]);
    s[3][1] = hn::MulAdd(y.x3, x.x1, s[3][1]);
    s[2][2] = hn::MulAdd(y.x2, x.x2, s[2][2]);
    s[3][2] = hn::MulAdd(y.x3, x.x2, s[3][2]);
    s[3][3] = hn::MulAdd(y.x3, x.x3, s[3][3]);
  }
  HWY_INLINE void add_to(double* sums) const {
    for (int i = 0; i < 4; ++i) {
      for (int j = 0; j <= i; ++j) sums[4 * j + i] += total(FourTag(), s[i][j]);
    }
  }
};

void ScatterOfFour(const double* from, Index stride, Index frames, const double* origin, double* sum,
                   double* s) {
  const FourTag d;
  FourTriangle all;
  FourVec s0 = hn::Zero(d);
  FourVec s1 = s0;
  FourVec s2 = s0;
  FourVec s3 = s0;
  for_each_rows(from, stride, frames, origin, [&](const FourRows& x) HWY_ATTR {
    s0 = hn::Add(s0, x.x0);
    s1 = hn::Add(s1, x.x1);
    s2 = hn::Add(s2, x.x2);
    s3 = hn::Add(s3, x.x3);
    all.add(x, x);
  });
  sum[0] += total(d, s0);
  sum[1] += total(d, s1);
  sum[2] += total(d, s2);
  sum[3] += total(d, s3);
  all.add_to(s);
}

void WeightedScatterOfFour(const double* from, Index stride, Index frames, const double* origin,
                           const double* r, double* s) {
  const FourTag d;
  FourTriangle all;
  for_each_rows(from, stride, frames, origin, [&](const FourRows& x) HWY_ATTR {
    const auto times = [&](Index k, FourVec v) HWY_ATTR { return hn::Mul(hn::Set(d, r[k]), v); };
    const auto plus = [&](Index k, FourVec v, FourVec sum)
                          HWY_ATTR { return hn::MulAdd(hn::Set(d, r[k]), v, sum); };
    const FourRows y{plus(0, x.x0, plus(4, x.x1, plus(8, x.x2, times(12, x.x3)))),
                     plus(5, x.x1, plus(9, x.x2, times(13, x.x3))), plus(10, x.x2, times(14, x.x3)),
                     times(15, x.x3)};
    const FourVec w =
        hn::MulAdd(y.x0, y.x0, hn::MulAdd(y.x1, y.x1, hn::MulAdd(y.x2, y.x2, hn::Mul(y.x3, y.x3))));
    all.add({hn::Mul(w, y.x0), hn::Mul(w, y.x1), hn::Mul(w, y.x2), hn::Mul(w, y.x3)}, y);
  });
  all.add_to(s);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {
HWY_EXPORT(ScatterOfFour);
HWY_EXPORT(WeightedScatterOfFour);
}  // namespace

void add_scatter_of_four(const Frames<double>& X, const Vector<double>& origin, Vector<double>& sum,
                         Matrix<double>& S) {
  DEMIX_DISPATCH(ScatterOfFour)(X.data(), X.outerStride(), X.cols(), origin.data(), sum.data(), S.data());
}

void add_weighted_scatter_of_four(const Frames<double>& X, const Vector<double>& origin,
                                  const Matrix<double>& R, Matrix<double>& S) {
  DEMIX_DISPATCH(WeightedScatterOfFour)
  (X.data(), X.outerStride(), X.cols(), origin.data(), R.data(), S.data());
}

}  // namespace demix
#endif
