#pragma once

#include "demix/types.hpp"

/// The passes of FOBI over frames of four channels, which are one register each: there is so little to
/// compute that turning blocks around in memory, as frame_kernels.hpp wants them, would take longer than all
/// the rest. x = frame - origin; matrices are 4 x 4.
namespace demix {

/// sum += sum_t x;  S_ij += sum_t x_i x_j for i >= j
void add_scatter_of_four(const Frames<double>& X, const Vector<double>& origin, Vector<double>& sum,
                         Matrix<double>& S);
/// r = R x, R upper triangular:  S_ij += sum_t ||r||^2 r_i r_j for i >= j
void add_weighted_scatter_of_four(const Frames<double>& X, const Vector<double>& origin,
                                  const Matrix<double>& R, Matrix<double>& S);
/// y = W x:  second_i += sum_t y_i^2, fourth_i += sum_t y_i^4
void add_powers_of_four(const Frames<double>& X, const Vector<double>& origin, const Matrix<double>& W,
                        Vector<double>& second, Vector<double>& fourth);

}  // namespace demix
