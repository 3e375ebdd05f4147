#include "core/four_channels.hpp"

#include "core/tile.hpp"

namespace demix {
namespace {

using Four = Lane<double>;

// use(x0, x1, x2, x3) with four frames at a time, x_i being channel i of all four.
template <typename Use>
DEMIX_INLINE void for_each_four(const double* from, Index stride, Index frames, const double* origin,
                                const Use& use) {
  const Four o = load(origin);
  const auto turned = [&](const double* x, Index step) __attribute__((always_inline)) {
    Four a = load(x) - o;
    Four b = load(x + step) - o;
    Four c = load(x + 2 * step) - o;
    Four d = load(x + 3 * step) - o;
    turn_four(a, b, c, d);
    use(a, b, c, d);
  };
  Index t = 0;
  for (; t + 4 <= frames; t += 4) {
    const double* x = from + t * stride;
    __builtin_prefetch(x + 512);  // a page ahead
    __builtin_prefetch(x + 520);
    turned(x, stride);
  }
  if (t == frames) return;
  double rest[16];  // filled up with frames that are 0
  for (Index k = 0; k < 16; ++k)
    rest[k] = t + k / 4 < frames ? from[(t + k / 4) * stride + k % 4] : origin[k % 4];
  turned(rest, 4);
}

// The lower triangle of a symmetric matrix of sums.
struct Triangle {
  Four s00 = {}, s10 = {}, s20 = {}, s30 = {}, s11 = {}, s21 = {}, s31 = {}, s22 = {}, s32 = {}, s33 = {};

  // + y x^T
  DEMIX_INLINE void add(Four y0, Four y1, Four y2, Four y3, Four x0, Four x1, Four x2, Four x3) {
    s00 += y0 * x0;
    s10 += y1 * x0;
    s20 += y2 * x0;
    s30 += y3 * x0;
    s11 += y1 * x1;
    s21 += y2 * x1;
    s31 += y3 * x1;
    s22 += y2 * x2;
    s32 += y3 * x2;
    s33 += y3 * x3;
  }
  DEMIX_INLINE void add_to(double* s) const {
    s[0] += total(s00);
    s[1] += total(s10);
    s[2] += total(s20);
    s[3] += total(s30);
    s[5] += total(s11);
    s[6] += total(s21);
    s[7] += total(s31);
    s[10] += total(s22);
    s[11] += total(s32);
    s[15] += total(s33);
  }
};

DEMIX_CLONES void scatter(const double* from, Index stride, Index frames, const double* origin, double* sum,
                          double* s) {
  Triangle all;
  Four sums[4] = {};
  for_each_four(
      from, stride, frames, origin, [&](Four x0, Four x1, Four x2, Four x3) __attribute__((always_inline)) {
        sums[0] += x0;
        sums[1] += x1;
        sums[2] += x2;
        sums[3] += x3;
        all.add(x0, x1, x2, x3, x0, x1, x2, x3);
      });
  for (int i = 0; i < 4; ++i) sum[i] += total(sums[i]);
  all.add_to(s);
}

DEMIX_CLONES void weighted_scatter(const double* from, Index stride, Index frames, const double* origin,
                                   const double* r, double* s) {
  Triangle all;
  for_each_four(
      from, stride, frames, origin, [&](Four x0, Four x1, Four x2, Four x3) __attribute__((always_inline)) {
        const Four r0 = r[0] * x0 + r[4] * x1 + r[8] * x2 + r[12] * x3;
        const Four r1 = r[5] * x1 + r[9] * x2 + r[13] * x3;
        const Four r2 = r[10] * x2 + r[14] * x3;
        const Four r3 = r[15] * x3;
        const Four w = r0 * r0 + r1 * r1 + r2 * r2 + r3 * r3;
        all.add(w * r0, w * r1, w * r2, w * r3, r0, r1, r2, r3);
      });
  all.add_to(s);
}

DEMIX_CLONES void powers(const double* from, Index stride, Index frames, const double* origin,
                         const double* w, double* second, double* fourth) {
  Four squares[4] = {};
  Four fourths[4] = {};
  for_each_four(
      from, stride, frames, origin, [&](Four x0, Four x1, Four x2, Four x3) __attribute__((always_inline)) {
#pragma GCC unroll 4
        for (int i = 0; i < 4; ++i) {
          const Four y = w[i] * x0 + w[i + 4] * x1 + w[i + 8] * x2 + w[i + 12] * x3;
          const Four square = y * y;
          squares[i] += square;
          fourths[i] += square * square;
        }
      });
  for (int i = 0; i < 4; ++i) {
    second[i] += total(squares[i]);
    fourth[i] += total(fourths[i]);
  }
}

}  // namespace

void add_scatter_of_four(const Frames<double>& X, const Vector<double>& origin, Vector<double>& sum,
                         Matrix<double>& S) {
  scatter(X.data(), X.outerStride(), X.cols(), origin.data(), sum.data(), S.data());
}

void add_weighted_scatter_of_four(const Frames<double>& X, const Vector<double>& origin,
                                  const Matrix<double>& R, Matrix<double>& S) {
  weighted_scatter(X.data(), X.outerStride(), X.cols(), origin.data(), R.data(), S.data());
}

void add_powers_of_four(const Frames<double>& X, const Vector<double>& origin, const Matrix<double>& W,
                        Vector<double>& second, Vector<double>& fourth) {
  powers(X.data(), X.outerStride(), X.cols(), origin.data(), W.data(), second.data(), fourth.data());
}

}  // namespace demix
