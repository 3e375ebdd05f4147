#pragma once

#include <cstdint>

#include "demix/weight.hpp"

/// How well a separation by kurtosis can be trusted.
namespace demix {

/// Expected crosstalk of FOBI from sampling alone, given its outputs Y: entry (i, j) is the standard
/// deviation of the share of source j left in output i. First-order perturbation for independent frames:
/// source j leaks into output i by the mean of y_i y_j (w - D_i - 2 k_ij)/(D_i - D_j), k_ij = E[w' y_i^2
/// y_j^2] (1 for the square). Its square, summed over j and averaged over i, is the MSE to expect. `samples`
/// is the number of frames the separation was learned from, if Y is only a part of them.
Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight = Weight::square,
                              std::int64_t samples = 0);

/// Crosstalk above which a pair gets a warning: a fifth of the amplitude, 14 dB. An MSE of .05 and more is
/// not separated.
inline constexpr double trusted_crosstalk = 0.2;

}  // namespace demix
