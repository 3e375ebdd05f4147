#pragma once

#include "batch/output_sums.hpp"

/// The crosstalk a separation is to be expected to have. A method solves E[psi_ij(y)] = 0; over the frames
/// that there are, the mean of psi is not 0 at the true sources, and to first order source j has the
/// amplitude
///
///   Delta_ij = - mean(q_ij) / (c_i + c_j),   c_i = k_i (E[g'(s_i)] - E[g(s_i) s_i]),
///   q_ij = k_i g(s_i) s_j - k_j g(s_j) s_i + (k_j E[g'(s_j)] - k_i E[g(s_i) s_i]) s_i s_j
///
/// in output i (the last term is what whitening adds), and with FOBI
///
///   Delta_ij = - mean(s_i s_j (w - D_i - 2 kappa_ij)) / (D_i - D_j),
///   D_i = E[w s_i^2],  kappa_ij = E[w' s_i^2 s_j^2].
///
/// The variance of the mean, for frames that depend on each other, is found by batch means: from how the
/// means over B stretches of the recording differ.
namespace demix {

/// Into diagnosis.crosstalk, or why not into no_crosstalk. `kappa`: of FOBI.
/// Returns the amplitudes by which to tell whether a pair may still be mixed. They are those of
/// diagnosis.crosstalk but for two things: FOBI's curvature is a difference that may be there by chance, so
/// D_i - D_j is taken one standard error nearer to 0; and periodic signals come off better. Empty if nothing
/// can be told.
Matrix<double> expect_crosstalk(const OutputSums& sums, const EstimatingEquation& equation,
                                const Matrix<double>& kappa, double least_amplitude, Diagnosis& diagnosis);

}  // namespace demix
