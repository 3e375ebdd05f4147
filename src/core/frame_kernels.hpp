#pragma once

#include <vector>

#include "demix/types.hpp"

/// What every pass over the data is made of, on blocks that lie channel after channel: one column per
/// channel, a multiple of 8 frames, filled up with zeros.
namespace demix {

/// to_ti = from_it - origin_i: frame after frame to channel after channel. `stride`: from frame to frame in
/// `from`; `rows`: from channel to channel in `to`.
void turn(const double* from, Index stride, Index frames, const Vector<double>& origin, double* to,
          Index rows);

/// S_ij <- S_ij + sum_t X_ti X_tj for i >= j
void add_scatter(const Matrix<double>& X, Matrix<double>& S);

/// S_rc <- S_rc + sum_t X_t,rows[r] X_tc for the first columns of X, as many as S has
void add_products(const Matrix<double>& X, const std::vector<Index>& rows, Matrix<double>& S);

/// Y = X P^T
void multiply(const Matrix<double>& X, const Matrix<double>& P, Matrix<double>& Y);

}  // namespace demix
