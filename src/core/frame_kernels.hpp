#pragma once

#include <vector>

#include "demix/types.hpp"

/// What every pass over the data is made of, on blocks that lie channel after channel: one column per
/// channel, a multiple of 8 frames, filled up with zeros. T: double, or float where that is enough.
namespace demix {

/// to_ti = from_it - origin_i: frame after frame to channel after channel. `stride`: from frame to frame in
/// `from`; `rows`: from channel to channel in `to`.
template <typename S, typename T>
void turn(const S* from, Index stride, Index frames, const Vector<double>& origin, T* to, Index rows);

/// Floats as doubles.
void widen(const float* from, Index count, double* to);

/// S_ij <- S_ij + sum_t Y_ti X_tj for i >= j
void add_scatter(const Matrix<double>& Y, const Matrix<double>& X, Matrix<double>& S);
/// S <- S + Y^T X
template <typename T>
void add_product(const Matrix<T>& Y, const Matrix<T>& X, Matrix<double>& S);

/// sum_i = sum_t X_ti
void sum_frames(const Matrix<double>& X, Vector<double>& sum);
/// second_i += sum_t X_ti^2, fourth_i += sum_t X_ti^4
template <typename T>
void add_powers(const Matrix<T>& X, Vector<double>& second, Vector<double>& fourth);
/// length_t = sum_i X_ti^2
void squared_lengths(const Matrix<double>& X, Vector<double>& length);
/// Y_ti = w_t X_ti; X and Y may be the same
void weigh(const Matrix<double>& X, const double* w, Matrix<double>& Y);

/// S_rc <- S_rc + sum_t X_t,rows[r] X_tc for the first columns of X, as many as S has
void add_selected_products(const Matrix<double>& X, const std::vector<Index>& rows, Matrix<double>& S);

/// Whether channels of the size that calls for this P can be multiplied by it in float: none is at the ends
/// of its range.
bool fits_float(const Matrix<double>& P);

/// Y = X P^T
template <typename T>
void multiply(const Matrix<T>& X, const Matrix<T>& P, Matrix<T>& Y);

}  // namespace demix
