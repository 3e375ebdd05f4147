#pragma once

#include "demix/types.hpp"

/// The arithmetic on blocks of frames and on square matrices that a stream learns with, vectorised like
/// kernels.hpp. Nothing is allocated, whatever the size. Matrices are column-major; where one is called
/// padded, its rows go on to a multiple of 4 with finite numbers.
namespace demix::kernels {

/// C <- C + A B, A: m x depth, padded; B: depth x n, with B_kj at B[j * column_step + k * depth_step], so
/// that it may be the transpose of what is stored; C: m x n.
void multiply_add(const double* A, Index lda, const double* B, Index column_step, Index depth_step, Index m,
                  Index n, Index depth, double* C, Index ldc);

/// t = tanh u, s = 1 - t^2, of `count` values, a multiple of 4
void tanh_and_slope(const double* u, Index count, double* t, double* s);

}  // namespace demix::kernels
