#pragma once

#include "demix/types.hpp"

/// What every pass over the data is made of, on blocks that lie channel after channel: one column per
/// channel, a multiple of 8 frames, filled up with zeros.
namespace demix {

/// S_ij <- S_ij + sum_t X_ti X_tj for i >= j
void add_scatter(const Matrix<double>& X, Matrix<double>& S);

/// Y = X P^T
void multiply(const Matrix<double>& X, const Matrix<double>& P, Matrix<double>& Y);

}  // namespace demix
