#pragma once

#include "demix/types.hpp"

/// The arithmetic of one network step, vectorised and compiled for several generations of x86-64; the best
/// one the machine has is chosen when the program starts. Matrices are column-major with leading dimension
/// ld, their rows padded to a multiple of `rows` with zeros (M: with a unit diagonal), so no loop has a
/// remainder.
namespace demix::kernels {

template <typename T>
inline constexpr Index rows = 64 / static_cast<Index>(sizeof(T));  // of a tile: two 32-byte vectors

template <typename T>
constexpr Index padded(Index d) {
  return (d + rows<T> - 1) / rows<T> * rows<T>;
}

/// Leading dimension for d rows: columns a power of two apart would fall into the same few cache sets.
template <typename T>
constexpr Index leading(Index d) {
  return padded<T>(d) % (4 * rows<T>) == 0 ? padded<T>(d) + rows<T> : padded<T>(d);
}

/// Memory lateral_solve works in, for d outputs.
template <typename T>
constexpr Index solve_scratch(Index d) {
  return leading<T>(d) * padded<T>(d) + 6 * padded<T>(d);
}

/// c <- W x, W: padded(d) x n
void project(const float* W, Index ld, Index d, Index n, const float* x, float* c);
void project(const double* W, Index ld, Index d, Index n, const double* x, double* c);

/// y <- M^-1 c by M = L D L^T, from the lower triangle of M. False if M is not positive definite.
bool lateral_solve(const float* M, Index ld, Index d, const float* c, float* y, float* scratch);
bool lateral_solve(const double* M, Index ld, Index d, const double* c, double* y, double* scratch);

template <typename T>
struct Modulation {
  T activity;  ///< a = ||y||^2
  T change;    ///< ||u||^2
};

/// u <- rate (y - a Lambda^-2 c)
Modulation<float> modulate(Index d, float rate, const float* inverse_lambda2, const float* y, const float* c,
                           float* u);
Modulation<double> modulate(Index d, double rate, const double* inverse_lambda2, const double* y,
                            const double* c, double* u);

/// W <- W + u x^T
void feedforward_learn(float* W, Index ld, Index d, Index n, const float* u, const float* x);
void feedforward_learn(double* W, Index ld, Index d, Index n, const double* u, const double* x);

/// A <- decay A + u v^T, A: padded(d) x n
void decay_learn(double* A, Index ld, Index d, Index n, double decay, const double* u, const double* v);

/// A <- decay A + sum_k weight_k v_k v_k^T over the `gathered` columns of V: what rank-one updates that
/// nobody looks at in between come to, at a quarter of the traffic
inline constexpr Index gathered = 4;
void gathered_learn(double* A, Index ld, Index d, double decay, const double* V, Index ldv,
                    const double* weight);

/// M <- M + rate (y y^T - I), lower triangle
void lateral_learn(float* M, Index ld, Index d, float rate, const float* y);
void lateral_learn(double* M, Index ld, Index d, double rate, const double* y);

}  // namespace demix::kernels
