#pragma once

#include "demix/types.hpp"
#include "demix/weight.hpp"

/// The paper's objective and its min-max form, to watch and to test with. Data is centred: subtract the mean
/// first. lambda2 holds lambda_i^2.
namespace demix {

/// Gamma_x^-1 = C^1/2 C_z C^1/2 = E[w(x^T C^-1 x) x x^T], C = E[x x^T] (equation for Gamma_x in section 4).
Matrix<double> gamma_inverse(const Frames<double>& X, Weight weight = Weight::square);

/// || X^T Gamma_x X - Y^T Lambda^2 Y ||_F^2 / T^2: the similarity-matching objective, without forming a T x T
/// matrix.
double similarity_objective(const Frames<double>& X, const Matrix<double>& gamma_inv, const Frames<double>& Y,
                            const Vector<double>& lambda2);

/// L(W, M, Y) = (1/T) Tr(-2 X^T W^T Y + Y^T M Y) + Tr(W Gamma_x^-1 W^T Lambda^-2 - M).
double min_max_objective(const Matrix<double>& W, const Matrix<double>& M, const Frames<double>& Y,
                         const Frames<double>& X, const Matrix<double>& gamma_inv,
                         const Vector<double>& lambda2);

}  // namespace demix
