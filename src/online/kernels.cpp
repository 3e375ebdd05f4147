#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "online/kernels.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "core/simd-inl.hpp"
#include "core/simd.hpp"
#include "online/kernels.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

using kernels::Modulation;
using kernels::padded;

// kernels::rows values, 64 bytes: one, two or four vectors.
template <typename T>
struct Tile {
  using D = Full<T>;
  static constexpr int count = 64 / sizeof(T) / most_lanes<D>;
  Vec<D> v[count];
};
// NOLINTNEXTLINE(bugprone-macro-parentheses): k is declared by it
#define DEMIX_FOR_TILE(T, k) for (int k = 0; k < Tile<T>::count; ++k)

template <typename T>
constexpr Index width = most_lanes<Full<T>>;

template <typename T>
HWY_INLINE Tile<T> zero() {
  Tile<T> a;
  DEMIX_FOR_TILE(T, k) a.v[k] = hn::Zero(Full<T>());
  return a;
}
template <typename T>
HWY_INLINE Tile<T> load(const T* p) {
  Tile<T> a;
  DEMIX_FOR_TILE(T, k) a.v[k] = hn::LoadU(Full<T>(), p + k * width<T>);
  return a;
}
template <typename T>
HWY_INLINE void store(const Tile<T>& a, T* p) {
  DEMIX_FOR_TILE(T, k) hn::StoreU(a.v[k], Full<T>(), p + k * width<T>);
}
// a <- a + b s
template <typename T>
HWY_INLINE void add(Tile<T>& a, const Tile<T>& b, T s) {
  const auto scalar = hn::Set(Full<T>(), s);
  DEMIX_FOR_TILE(T, k) a.v[k] = hn::MulAdd(b.v[k], scalar, a.v[k]);
}
// a <- a - b s
template <typename T>
HWY_INLINE void subtract(Tile<T>& a, const Tile<T>& b, T s) {
  const auto scalar = hn::Set(Full<T>(), s);
  DEMIX_FOR_TILE(T, k) a.v[k] = hn::NegMulAdd(b.v[k], scalar, a.v[k]);
}
template <typename T>
HWY_INLINE void scale(Tile<T>& a, T s) {
  const auto scalar = hn::Set(Full<T>(), s);
  DEMIX_FOR_TILE(T, k) a.v[k] = hn::Mul(a.v[k], scalar);
}
template <typename T>
HWY_INLINE T sum_of(Vec<Full<T>> v) {
  return hn::GetLane(hn::SumOfLanes(Full<T>(), v));
}

template <typename T>
HWY_INLINE void project_body(const T* W, Index ld, Index d, Index n, const T* x, T* c) {
  for (Index i = 0; i < d; i += kernels::rows<T>) {
    Tile<T> even = zero<T>();
    Tile<T> odd = zero<T>();
    Index j = 0;
    for (; j + 2 <= n; j += 2) {
      add(even, load(W + j * ld + i), x[j]);
      add(odd, load(W + (j + 1) * ld + i), x[j + 1]);
    }
    if (j < n) add(even, load(W + j * ld + i), x[j]);
    add(even, odd, T{1});
    store(even, c + i);
  }
}

template <typename T>
HWY_INLINE void feedforward_learn_body(T* W, Index ld, Index d, Index n, const T* u, const T* x) {
  for (Index i = 0; i < d; i += kernels::rows<T>) {
    const Tile<T> change = load(u + i);
    for (Index j = 0; j < n; ++j) {
      Tile<T> w = load(W + j * ld + i);
      add(w, change, x[j]);
      store(w, W + j * ld + i);
    }
  }
}

template <typename T>
HWY_INLINE void lateral_learn_body(T* M, Index ld, Index d, T rate, const T* y) {
  const Full<T> tag;
  for (Index j = 0; j < d; ++j) {
    T* m = M + j * ld;
    const auto r = hn::Set(tag, rate * y[j]);
    for (Index i = j / width<T> * width<T>; i < d; i += width<T>)
      hn::StoreU(hn::MulAdd(hn::LoadU(tag, y + i), r, hn::LoadU(tag, m + i)), tag, m + i);
    m[j] -= rate;
  }
}

// The same factorisation as below for networks smaller than a tile, with the size known to the compiler.
template <typename T, int D>
HWY_INLINE bool solve_small(const T* M, Index ld, const T* c, T* y) {
  T L[D][D];
  T U[D][D];  // U = L D
  T z[D];
  T inverse[D];
  bool positive = true;
  for (int j = 0; j < D; ++j) {
    for (int i = j; i < D; ++i) {
      T s = M[j * ld + i];
      for (int k = 0; k < j; ++k) s -= U[k][i] * L[k][j];
      U[j][i] = s;
    }
    positive &= U[j][j] > 0;
    inverse[j] = 1 / U[j][j];
    for (int i = j + 1; i < D; ++i) L[j][i] = U[j][i] * inverse[j];
    z[j] = c[j];
    for (int k = 0; k < j; ++k) z[j] -= L[k][j] * z[k];
  }
  for (int j = D - 1; j >= 0; --j) {
    z[j] *= inverse[j];
    for (int i = j + 1; i < D; ++i) z[j] -= L[j][i] * z[i];
    y[j] = z[j];
  }
  return positive;
}

// u <- rate (y - a Lambda^-2 c), a = ||y||^2; returns a and ||u||^2
template <typename T>
HWY_INLINE Modulation<T> modulate_body(Index d, T rate, const T* inverse_lambda2, const T* y, const T* c,
                                       T* u) {
  const Full<T> tag;
  auto square = hn::Zero(tag);
  for (Index i = 0; i < d; i += width<T>) {
    const auto v = hn::LoadU(tag, y + i);
    square = hn::MulAdd(v, v, square);
  }
  const T a = sum_of<T>(square);
  const auto activity = hn::Set(tag, a);
  const auto step = hn::Set(tag, rate);
  square = hn::Zero(tag);
  for (Index i = 0; i < d; i += width<T>) {
    const auto decay = hn::Mul(activity, hn::LoadU(tag, inverse_lambda2 + i));
    const auto change = hn::Mul(step, hn::NegMulAdd(decay, hn::LoadU(tag, c + i), hn::LoadU(tag, y + i)));
    hn::StoreU(change, tag, u + i);
    square = hn::MulAdd(change, change, square);
  }
  return {a, sum_of<T>(square)};
}

// M = L D L^T, block columns of four, left-looking: with U = L D,
//   U_IJ = M_IJ - sum_{k < J} U_Ik L_Jk^T     a tile of rows x 4 at a time, all in registers
//   L_JJ D_JJ L_JJ^T = the diagonal block, and U_IJ is brought up to date with it
// The forward substitution z = L^-1 c rides along; then y = L^-T D^-1 z.
template <typename T>
HWY_INLINE bool solve_blocked(const T* M, Index ld, Index d, const T* c, T* y, T* scratch) {
  const Full<T> tag;
  constexpr Index rows = kernels::rows<T>;
  const Index n = padded<T>(d);
  T* U = scratch;          // ld x n
  T* B = U + ld * n;       // L_Jk, four at a time
  T* inverse = B + 4 * n;  // 1 / D
  T* z = inverse + n;
  for (Index i = 0; i < n; ++i) z[i] = c[i];

  for (Index J = 0; J < n; J += 4) {
    T even[4] = {z[J], z[J + 1], z[J + 2], z[J + 3]};
    T odd[4] = {};
    for (Index k = 0; k < J; k += 2) {
      for (int q = 0; q < 4; ++q) {
        const T l0 = U[k * ld + J + q] * inverse[k];
        const T l1 = U[(k + 1) * ld + J + q] * inverse[k + 1];
        B[4 * k + q] = l0;
        B[4 * k + 4 + q] = l1;
        even[q] -= l0 * z[k];
        odd[q] -= l1 * z[k + 1];
      }
    }
    for (int q = 0; q < 4; ++q) z[J + q] = even[q] + odd[q];

    T* u0 = U + J * ld;
    T* u1 = u0 + ld;
    T* u2 = u1 + ld;
    T* u3 = u2 + ld;
    T l10 = 0;
    T l20 = 0;
    T l30 = 0;
    T l21 = 0;
    T l31 = 0;
    T l32 = 0;
    const Index diagonal = J / rows * rows;
    for (Index I = diagonal; I < n; I += rows) {
      const T* m = M + J * ld + I;
      Tile<T> a0 = load(m);
      Tile<T> a1 = load(m + ld);
      Tile<T> a2 = load(m + 2 * ld);
      Tile<T> a3 = load(m + 3 * ld);
      for (Index k = 0; k < J; ++k) {
        const Tile<T> v = load(U + k * ld + I);
        const T* b = B + 4 * k;
        subtract(a0, v, b[0]);
        subtract(a1, v, b[1]);
        subtract(a2, v, b[2]);
        subtract(a3, v, b[3]);
      }
      if (I == diagonal) {
        store(a0, u0 + I);
        store(a1, u1 + I);
        store(a2, u2 + I);
        store(a3, u3 + I);
        // Two columns at a time: 1/D_0 and 1/D_1 = D_0/det wait for one division, not for one each.
        const T d0 = u0[J];
        const T det01 = d0 * u1[J + 1] - u0[J + 1] * u0[J + 1];
        const T i0 = 1 / d0;
        const T i1 = d0 / det01;
        l10 = u0[J + 1] * i0;
        l20 = u0[J + 2] * i0;
        l30 = u0[J + 3] * i0;
        const T s21 = u1[J + 2] - l10 * u0[J + 2];
        const T s31 = u1[J + 3] - l10 * u0[J + 3];
        l21 = s21 * i1;
        l31 = s31 * i1;
        const T d2 = u2[J + 2] - l20 * u0[J + 2] - l21 * s21;
        const T s32 = u2[J + 3] - l20 * u0[J + 3] - l21 * s31;
        const T s33 = u3[J + 3] - l30 * u0[J + 3] - l31 * s31;
        const T det23 = d2 * s33 - s32 * s32;
        const T i2 = 1 / d2;
        l32 = s32 * i2;
        if (!(d0 > 0 && det01 > 0 && d2 > 0 && det23 > 0)) return false;
        inverse[J] = i0;
        inverse[J + 1] = i1;
        inverse[J + 2] = i2;
        inverse[J + 3] = d2 / det23;
      }
      subtract(a1, a0, l10);
      subtract(a2, a0, l20);
      subtract(a2, a1, l21);
      subtract(a3, a0, l30);
      subtract(a3, a1, l31);
      subtract(a3, a2, l32);
      store(a0, u0 + I);
      store(a1, u1 + I);
      store(a2, u2 + I);
      store(a3, u3 + I);
    }
    z[J + 1] -= l10 * z[J];
    z[J + 2] -= l20 * z[J] + l21 * z[J + 1];
    z[J + 3] -= l30 * z[J] + l31 * z[J + 1] + l32 * z[J + 2];
  }

  for (Index J = n - 4; J >= 0; J -= 4) {
    const T* u0 = U + J * ld;
    const T* u1 = u0 + ld;
    const T* u2 = u1 + ld;
    const T* u3 = u2 + ld;
    T r[4] = {z[J], z[J + 1], z[J + 2], z[J + 3]};
    Index I = J + 4;
    for (; I % width<T> != 0; ++I) {
      r[0] -= u0[I] * y[I];
      r[1] -= u1[I] * y[I];
      r[2] -= u2[I] * y[I];
      r[3] -= u3[I] * y[I];
    }
    auto s0 = hn::Zero(tag);
    auto s1 = s0;
    auto s2 = s0;
    auto s3 = s0;
    for (; I < n; I += width<T>) {
      const auto v = hn::LoadU(tag, y + I);
      s0 = hn::MulAdd(hn::LoadU(tag, u0 + I), v, s0);
      s1 = hn::MulAdd(hn::LoadU(tag, u1 + I), v, s1);
      s2 = hn::MulAdd(hn::LoadU(tag, u2 + I), v, s2);
      s3 = hn::MulAdd(hn::LoadU(tag, u3 + I), v, s3);
    }
    const T y3 = (r[3] - sum_of<T>(s3)) * inverse[J + 3];
    const T y2 = (r[2] - sum_of<T>(s2) - u2[J + 3] * y3) * inverse[J + 2];
    const T y1 = (r[1] - sum_of<T>(s1) - u1[J + 3] * y3 - u1[J + 2] * y2) * inverse[J + 1];
    const T y0 = (r[0] - sum_of<T>(s0) - u0[J + 3] * y3 - u0[J + 2] * y2 - u0[J + 1] * y1) * inverse[J];
    y[J] = y0;
    y[J + 1] = y1;
    y[J + 2] = y2;
    y[J + 3] = y3;
  }
  return true;
}

template <typename T>
HWY_INLINE bool lateral_solve_body(const T* M, Index ld, Index d, const T* c, T* y, T* scratch) {
  switch (d) {
    case 1:
      return solve_small<T, 1>(M, ld, c, y);
    case 2:
      return solve_small<T, 2>(M, ld, c, y);
    case 3:
      return solve_small<T, 3>(M, ld, c, y);
    case 4:
      return solve_small<T, 4>(M, ld, c, y);
    default:
      return solve_blocked<T>(M, ld, d, c, y, scratch);
  }
}

void ProjectFloat(const float* W, Index ld, Index d, Index n, const float* x, float* c) {
  project_body(W, ld, d, n, x, c);
}
void ProjectDouble(const double* W, Index ld, Index d, Index n, const double* x, double* c) {
  project_body(W, ld, d, n, x, c);
}
bool LateralSolveFloat(const float* M, Index ld, Index d, const float* c, float* y, float* scratch) {
  return lateral_solve_body(M, ld, d, c, y, scratch);
}
bool LateralSolveDouble(const double* M, Index ld, Index d, const double* c, double* y, double* scratch) {
  return lateral_solve_body(M, ld, d, c, y, scratch);
}
Modulation<float> ModulateFloat(Index d, float rate, const float* inverse_lambda2, const float* y,
                                const float* c, float* u) {
  return modulate_body(d, rate, inverse_lambda2, y, c, u);
}
Modulation<double> ModulateDouble(Index d, double rate, const double* inverse_lambda2, const double* y,
                                  const double* c, double* u) {
  return modulate_body(d, rate, inverse_lambda2, y, c, u);
}
void FeedforwardLearnFloat(float* W, Index ld, Index d, Index n, const float* u, const float* x) {
  feedforward_learn_body(W, ld, d, n, u, x);
}
void FeedforwardLearnDouble(double* W, Index ld, Index d, Index n, const double* u, const double* x) {
  feedforward_learn_body(W, ld, d, n, u, x);
}
void DecayLearn(double* A, Index ld, Index d, Index n, double decay, const double* u, const double* v) {
  for (Index i = 0; i < d; i += kernels::rows<double>) {
    const Tile<double> change = load(u + i);
    for (Index j = 0; j < n; ++j) {
      Tile<double> a = load(A + j * ld + i);
      scale(a, decay);
      add(a, change, v[j]);
      store(a, A + j * ld + i);
    }
  }
}
void GatheredLearn(double* A, Index ld, Index d, double decay, const double* V, Index ldv,
                   const double* weight) {
  for (Index i = 0; i < d; i += kernels::rows<double>) {
    Tile<double> u[kernels::gathered];
    for (Index k = 0; k < kernels::gathered; ++k) {
      u[k] = load(V + k * ldv + i);
      scale(u[k], weight[k]);
    }
    for (Index j = 0; j < d; ++j) {
      Tile<double> a = load(A + j * ld + i);
      scale(a, decay);
      for (Index k = 0; k < kernels::gathered; ++k) add(a, u[k], V[k * ldv + j]);
      store(a, A + j * ld + i);
    }
  }
}
void LateralLearnFloat(float* M, Index ld, Index d, float rate, const float* y) {
  lateral_learn_body(M, ld, d, rate, y);
}
void LateralLearnDouble(double* M, Index ld, Index d, double rate, const double* y) {
  lateral_learn_body(M, ld, d, rate, y);
}

#undef DEMIX_FOR_TILE
}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix::kernels {
namespace {
HWY_EXPORT(ProjectFloat);
HWY_EXPORT(ProjectDouble);
HWY_EXPORT(LateralSolveFloat);
HWY_EXPORT(LateralSolveDouble);
HWY_EXPORT(ModulateFloat);
HWY_EXPORT(ModulateDouble);
HWY_EXPORT(FeedforwardLearnFloat);
HWY_EXPORT(FeedforwardLearnDouble);
HWY_EXPORT(DecayLearn);
HWY_EXPORT(GatheredLearn);
HWY_EXPORT(LateralLearnFloat);
HWY_EXPORT(LateralLearnDouble);
}  // namespace

void project(const float* W, Index ld, Index d, Index n, const float* x, float* c) {
  DEMIX_DISPATCH(ProjectFloat)(W, ld, d, n, x, c);
}
void project(const double* W, Index ld, Index d, Index n, const double* x, double* c) {
  DEMIX_DISPATCH(ProjectDouble)(W, ld, d, n, x, c);
}
bool lateral_solve(const float* M, Index ld, Index d, const float* c, float* y, float* scratch) {
  return DEMIX_DISPATCH(LateralSolveFloat)(M, ld, d, c, y, scratch);
}
bool lateral_solve(const double* M, Index ld, Index d, const double* c, double* y, double* scratch) {
  return DEMIX_DISPATCH(LateralSolveDouble)(M, ld, d, c, y, scratch);
}
Modulation<float> modulate(Index d, float rate, const float* inverse_lambda2, const float* y, const float* c,
                           float* u) {
  return DEMIX_DISPATCH(ModulateFloat)(d, rate, inverse_lambda2, y, c, u);
}
Modulation<double> modulate(Index d, double rate, const double* inverse_lambda2, const double* y,
                            const double* c, double* u) {
  return DEMIX_DISPATCH(ModulateDouble)(d, rate, inverse_lambda2, y, c, u);
}
void feedforward_learn(float* W, Index ld, Index d, Index n, const float* u, const float* x) {
  DEMIX_DISPATCH(FeedforwardLearnFloat)(W, ld, d, n, u, x);
}
void feedforward_learn(double* W, Index ld, Index d, Index n, const double* u, const double* x) {
  DEMIX_DISPATCH(FeedforwardLearnDouble)(W, ld, d, n, u, x);
}
void decay_learn(double* A, Index ld, Index d, Index n, double decay, const double* u, const double* v) {
  DEMIX_DISPATCH(DecayLearn)(A, ld, d, n, decay, u, v);
}
void gathered_learn(double* A, Index ld, Index d, double decay, const double* V, Index ldv,
                    const double* weight) {
  DEMIX_DISPATCH(GatheredLearn)(A, ld, d, decay, V, ldv, weight);
}
void lateral_learn(float* M, Index ld, Index d, float rate, const float* y) {
  DEMIX_DISPATCH(LateralLearnFloat)(M, ld, d, rate, y);
}
void lateral_learn(double* M, Index ld, Index d, double rate, const double* y) {
  DEMIX_DISPATCH(LateralLearnDouble)(M, ld, d, rate, y);
}

}  // namespace demix::kernels
#endif
