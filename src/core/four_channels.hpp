#pragma once

#include "demix/types.hpp"

/// The passes of FOBI over frames of four channels. There is so little to compute that copying blocks, as
/// frame_kernels.hpp needs them, would take longer than all the rest. x = frame - origin; matrices are 4 x 4.
namespace demix {

/// sum += sum_t x;  S_ij += sum_t x_i x_j for i >= j
void add_scatter_of_four(const Frames<double>& X, const Vector<double>& origin, Vector<double>& sum,
                         Matrix<double>& S);
/// r = R x, R upper triangular:  S_ij += sum_t ||r||^2 r_i r_j for i >= j
void add_weighted_scatter_of_four(const Frames<double>& X, const Vector<double>& origin,
                                  const Matrix<double>& R, Matrix<double>& S);

}  // namespace demix
