#include "online/kernels.hpp"

#include "core/clones.hpp"

namespace demix::kernels {
namespace {

template <typename T>
struct Lanes {
  typedef T Wide __attribute__((vector_size(32), aligned(sizeof(T)), may_alias));  // half a tile
  typedef T Quad
      __attribute__((vector_size(4 * sizeof(T)), aligned(sizeof(T)), may_alias));  // a block of columns
};
template <typename T>
using Wide = typename Lanes<T>::Wide;
template <typename T>
using Quad = typename Lanes<T>::Quad;

template <typename V, typename T>
DEMIX_INLINE V& at(T* p) {
  return *reinterpret_cast<V*>(p);
}
template <typename V, typename T>
DEMIX_INLINE const V& at(const T* p) {
  return *reinterpret_cast<const V*>(p);
}

#if __has_builtin(__builtin_shufflevector)
DEMIX_INLINE Quad<double> fold(Wide<double> s) { return s; }
DEMIX_INLINE Quad<float> fold(Wide<float> s) {
  return __builtin_shufflevector(s, s, 0, 1, 2, 3) + __builtin_shufflevector(s, s, 4, 5, 6, 7);
}

// {sum s0, sum s1, sum s2, sum s3}
template <typename T>
DEMIX_INLINE Quad<T> sums(Wide<T> s0, Wide<T> s1, Wide<T> s2, Wide<T> s3) {
  const Quad<T> a = fold(s0);
  const Quad<T> b = fold(s1);
  const Quad<T> c = fold(s2);
  const Quad<T> d = fold(s3);
  const Quad<T> ab = __builtin_shufflevector(a, b, 0, 4, 2, 6) + __builtin_shufflevector(a, b, 1, 5, 3, 7);
  const Quad<T> cd = __builtin_shufflevector(c, d, 0, 4, 2, 6) + __builtin_shufflevector(c, d, 1, 5, 3, 7);
  return __builtin_shufflevector(ab, cd, 0, 1, 4, 5) + __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
}
#else
template <typename T>
DEMIX_INLINE Quad<T> sums(Wide<T> s0, Wide<T> s1, Wide<T> s2, Wide<T> s3) {
  Quad<T> total{};
  for (Index q = 0; q < rows<T> / 2; ++q) total += Quad<T>{s0[q], s1[q], s2[q], s3[q]};
  return total;
}
#endif

template <typename T>
DEMIX_INLINE void project_body(const T* W, Index ld, Index d, Index n, const T* x, T* c) {
  using V = Wide<T>;
  constexpr Index half = rows<T> / 2;
  for (Index i = 0; i < d; i += rows<T>) {
    V a0{};
    V a1{};
    V b0{};
    V b1{};
    Index j = 0;
    for (; j + 2 <= n; j += 2) {
      const T* w = W + j * ld + i;
      a0 += at<V>(w) * x[j];
      a1 += at<V>(w + half) * x[j];
      b0 += at<V>(w + ld) * x[j + 1];
      b1 += at<V>(w + ld + half) * x[j + 1];
    }
    if (j < n) {
      a0 += at<V>(W + j * ld + i) * x[j];
      a1 += at<V>(W + j * ld + i + half) * x[j];
    }
    at<V>(c + i) = a0 + b0;
    at<V>(c + i + half) = a1 + b1;
  }
}

template <typename T>
DEMIX_INLINE void feedforward_learn_body(T* W, Index ld, Index d, Index n, const T* u, const T* x) {
  using V = Wide<T>;
  constexpr Index half = rows<T> / 2;
  for (Index i = 0; i < d; i += rows<T>) {
    const V u0 = at<V>(u + i);
    const V u1 = at<V>(u + i + half);
    for (Index j = 0; j < n; ++j) {
      T* w = W + j * ld + i;
      at<V>(w) += u0 * x[j];
      at<V>(w + half) += u1 * x[j];
    }
  }
}

template <typename T>
DEMIX_INLINE void lateral_learn_body(T* M, Index ld, Index d, T rate, const T* y) {
  using V = Wide<T>;
  constexpr Index half = rows<T> / 2;
  for (Index j = 0; j < d; ++j) {
    T* m = M + j * ld;
    const T r = rate * y[j];
    for (Index i = j / half * half; i < d; i += half) at<V>(m + i) += at<V>(y + i) * r;
    m[j] -= rate;
  }
}

// The same factorisation as below for networks smaller than a tile, with the size known to the compiler.
template <typename T, int D>
DEMIX_INLINE bool solve_small(const T* M, Index ld, const T* c, T* y) {
  T L[D][D];
  T U[D][D];  // U = L D
  T z[D];
  T inverse[D];
  bool positive = true;
#pragma GCC unroll 4
  for (int j = 0; j < D; ++j) {
#pragma GCC unroll 4
    for (int i = j; i < D; ++i) {
      T s = M[j * ld + i];
#pragma GCC unroll 4
      for (int k = 0; k < j; ++k) s -= U[k][i] * L[k][j];
      U[j][i] = s;
    }
    positive &= U[j][j] > 0;
    inverse[j] = 1 / U[j][j];
#pragma GCC unroll 4
    for (int i = j + 1; i < D; ++i) L[j][i] = U[j][i] * inverse[j];
    z[j] = c[j];
#pragma GCC unroll 4
    for (int k = 0; k < j; ++k) z[j] -= L[k][j] * z[k];
  }
#pragma GCC unroll 4
  for (int j = D - 1; j >= 0; --j) {
    z[j] *= inverse[j];
#pragma GCC unroll 4
    for (int i = j + 1; i < D; ++i) z[j] -= L[j][i] * z[i];
    y[j] = z[j];
  }
  return positive;
}

// u <- rate (y - a Lambda^-2 c), a = ||y||^2; returns a and ||u||^2
template <typename T>
DEMIX_INLINE Modulation<T> modulate_body(Index d, T rate, const T* inverse_lambda2, const T* y, const T* c,
                                         T* u) {
  using V = Wide<T>;
  constexpr Index half = rows<T> / 2;
  V square{};
  for (Index i = 0; i < d; i += half) square += at<V>(y + i) * at<V>(y + i);
  const T a = sums<T>(square, square, square, square)[0];
  square = V{};
  for (Index i = 0; i < d; i += half) {
    const V change = rate * (at<V>(y + i) - a * at<V>(inverse_lambda2 + i) * at<V>(c + i));
    at<V>(u + i) = change;
    square += change * change;
  }
  return {a, sums<T>(square, square, square, square)[0]};
}

// M = L D L^T, block columns of four, left-looking: with U = L D,
//   U_IJ = M_IJ - sum_{k < J} U_Ik L_Jk^T     a tile of rows x 4 at a time, all in registers
//   L_JJ D_JJ L_JJ^T = the diagonal block, and U_IJ is brought up to date with it
// The forward substitution z = L^-1 c rides along; then y = L^-T D^-1 z.
template <typename T>
DEMIX_INLINE bool solve_blocked(const T* M, Index ld, Index d, const T* c, T* y, T* scratch) {
  using V = Wide<T>;
  using Q = Quad<T>;
  constexpr Index half = rows<T> / 2;
  const Index n = padded<T>(d);
  T* U = scratch;          // ld x n
  T* B = U + ld * n;       // L_Jk, four at a time
  T* inverse = B + 4 * n;  // 1 / D
  T* z = inverse + n;
  for (Index i = 0; i < n; ++i) z[i] = c[i];

  for (Index J = 0; J < n; J += 4) {
    Q za = at<Q>(z + J);
    Q zb{};
    for (Index k = 0; k < J; k += 2) {
      const Q l0 = at<Q>(U + k * ld + J) * inverse[k];
      const Q l1 = at<Q>(U + (k + 1) * ld + J) * inverse[k + 1];
      at<Q>(B + 4 * k) = l0;
      at<Q>(B + 4 * k + 4) = l1;
      za -= l0 * z[k];
      zb -= l1 * z[k + 1];
    }
    at<Q>(z + J) = za + zb;

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
    const Index diagonal = J / rows<T> * rows<T>;
    for (Index I = diagonal; I < n; I += rows<T>) {
      const T* m = M + J * ld + I;
      V a00 = at<V>(m);
      V a01 = at<V>(m + half);
      V a10 = at<V>(m + ld);
      V a11 = at<V>(m + ld + half);
      V a20 = at<V>(m + 2 * ld);
      V a21 = at<V>(m + 2 * ld + half);
      V a30 = at<V>(m + 3 * ld);
      V a31 = at<V>(m + 3 * ld + half);
      for (Index k = 0; k < J; ++k) {
        const V v0 = at<V>(U + k * ld + I);
        const V v1 = at<V>(U + k * ld + I + half);
        const T* b = B + 4 * k;
        a00 -= v0 * b[0];
        a01 -= v1 * b[0];
        a10 -= v0 * b[1];
        a11 -= v1 * b[1];
        a20 -= v0 * b[2];
        a21 -= v1 * b[2];
        a30 -= v0 * b[3];
        a31 -= v1 * b[3];
      }
      if (I == diagonal) {
        at<V>(u0 + I) = a00;
        at<V>(u0 + I + half) = a01;
        at<V>(u1 + I) = a10;
        at<V>(u1 + I + half) = a11;
        at<V>(u2 + I) = a20;
        at<V>(u2 + I + half) = a21;
        at<V>(u3 + I) = a30;
        at<V>(u3 + I + half) = a31;
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
      a10 -= a00 * l10;
      a11 -= a01 * l10;
      a20 -= a00 * l20;
      a21 -= a01 * l20;
      a20 -= a10 * l21;
      a21 -= a11 * l21;
      a30 -= a00 * l30;
      a31 -= a01 * l30;
      a30 -= a10 * l31;
      a31 -= a11 * l31;
      a30 -= a20 * l32;
      a31 -= a21 * l32;
      at<V>(u0 + I) = a00;
      at<V>(u0 + I + half) = a01;
      at<V>(u1 + I) = a10;
      at<V>(u1 + I + half) = a11;
      at<V>(u2 + I) = a20;
      at<V>(u2 + I + half) = a21;
      at<V>(u3 + I) = a30;
      at<V>(u3 + I + half) = a31;
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
    Q r = at<Q>(z + J);
    Index I = J + 4;
    if (half > 4 && I % half != 0) {
      for (const Index end = I + 4; I < end; ++I) r -= Q{u0[I], u1[I], u2[I], u3[I]} * y[I];
    }
    V s0{};
    V s1{};
    V s2{};
    V s3{};
    for (; I < n; I += half) {
      const V v = at<V>(y + I);
      s0 += at<V>(u0 + I) * v;
      s1 += at<V>(u1 + I) * v;
      s2 += at<V>(u2 + I) * v;
      s3 += at<V>(u3 + I) * v;
    }
    r -= sums<T>(s0, s1, s2, s3);
    const T y3 = r[3] * inverse[J + 3];
    const T y2 = (r[2] - u2[J + 3] * y3) * inverse[J + 2];
    const T y1 = (r[1] - u1[J + 3] * y3 - u1[J + 2] * y2) * inverse[J + 1];
    const T y0 = (r[0] - u0[J + 3] * y3 - u0[J + 2] * y2 - u0[J + 1] * y1) * inverse[J];
    at<Q>(y + J) = Q{y0, y1, y2, y3};
  }
  return true;
}

template <typename T>
DEMIX_INLINE bool lateral_solve_body(const T* M, Index ld, Index d, const T* c, T* y, T* scratch) {
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

}  // namespace

DEMIX_CLONES void project(const float* W, Index ld, Index d, Index n, const float* x, float* c) {
  project_body(W, ld, d, n, x, c);
}
DEMIX_CLONES void project(const double* W, Index ld, Index d, Index n, const double* x, double* c) {
  project_body(W, ld, d, n, x, c);
}
DEMIX_CLONES bool lateral_solve(const float* M, Index ld, Index d, const float* c, float* y, float* scratch) {
  return lateral_solve_body(M, ld, d, c, y, scratch);
}
DEMIX_CLONES bool lateral_solve(const double* M, Index ld, Index d, const double* c, double* y,
                                double* scratch) {
  return lateral_solve_body(M, ld, d, c, y, scratch);
}
DEMIX_CLONES Modulation<float> modulate(Index d, float rate, const float* inverse_lambda2, const float* y,
                                        const float* c, float* u) {
  return modulate_body(d, rate, inverse_lambda2, y, c, u);
}
DEMIX_CLONES Modulation<double> modulate(Index d, double rate, const double* inverse_lambda2, const double* y,
                                         const double* c, double* u) {
  return modulate_body(d, rate, inverse_lambda2, y, c, u);
}
DEMIX_CLONES void feedforward_learn(float* W, Index ld, Index d, Index n, const float* u, const float* x) {
  feedforward_learn_body(W, ld, d, n, u, x);
}
DEMIX_CLONES void feedforward_learn(double* W, Index ld, Index d, Index n, const double* u, const double* x) {
  feedforward_learn_body(W, ld, d, n, u, x);
}
DEMIX_CLONES void decay_learn(double* A, Index ld, Index d, Index n, double decay, const double* u,
                              const double* v) {
  using V = Wide<double>;
  constexpr Index half = rows<double> / 2;
  for (Index i = 0; i < d; i += rows<double>) {
    const V u0 = at<V>(u + i);
    const V u1 = at<V>(u + i + half);
    for (Index j = 0; j < n; ++j) {
      double* a = A + j * ld + i;
      at<V>(a) = decay * at<V>(a) + u0 * v[j];
      at<V>(a + half) = decay * at<V>(a + half) + u1 * v[j];
    }
  }
}
DEMIX_CLONES void gathered_learn(double* A, Index ld, Index d, double decay, const double* V, Index ldv,
                                 const double* weight) {
  using W = Wide<double>;
  constexpr Index half = rows<double> / 2;
  for (Index i = 0; i < d; i += rows<double>) {
    W u[gathered][2];
    for (Index k = 0; k < gathered; ++k) {
      u[k][0] = weight[k] * at<W>(V + k * ldv + i);
      u[k][1] = weight[k] * at<W>(V + k * ldv + i + half);
    }
    for (Index j = 0; j < d; ++j) {
      double* a = A + j * ld + i;
      W a0 = decay * at<W>(a);
      W a1 = decay * at<W>(a + half);
#pragma GCC unroll 4
      for (Index k = 0; k < gathered; ++k) {
        a0 += u[k][0] * V[k * ldv + j];
        a1 += u[k][1] * V[k * ldv + j];
      }
      at<W>(a) = a0;
      at<W>(a + half) = a1;
    }
  }
}
DEMIX_CLONES void lateral_learn(float* M, Index ld, Index d, float rate, const float* y) {
  lateral_learn_body(M, ld, d, rate, y);
}
DEMIX_CLONES void lateral_learn(double* M, Index ld, Index d, double rate, const double* y) {
  lateral_learn_body(M, ld, d, rate, y);
}

}  // namespace demix::kernels
