#pragma once

#include "demix/model.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// FOBI (Cardoso 1989), the three steps of the paper:
///   1.  h = P (x - mean)                 white
///   2.  C_z = E[w(||h||^2) h h^T] = U D U^T
///   3.  y = U^T h                        components by descending kurtosis
/// Closed form, two passes for the answer and one for what is said about it.
namespace demix {

struct FobiOptions {
  Weight weight = Weight::square;
  WhiteningOptions whitening;
  ProgressCallback progress;

  void validate() const { whitening.validate(); }
};

/// Throws std::invalid_argument for data that cannot be separated by anything: no channels, not more frames
/// than channels, NaN or Inf, every channel constant. All other doubts are warnings in the model.
Model fobi(const Frames<float>& X, const FobiOptions& options = {});
Model fobi(const Frames<double>& X, const FobiOptions& options = {});

/// Expected crosstalk of FOBI from sampling alone, given its outputs Y: entry (i, j) is the standard
/// deviation of the share of source j left in output i. First-order perturbation for independent frames:
/// source j leaks into output i by the mean of y_i y_j (w - D_i - 2 k_ij)/(D_i - D_j), k_ij = E[w' y_i^2
/// y_j^2] (1 for the square). Its square, summed over j and averaged over i, is the MSE to expect. `samples`
/// is the number of frames the separation was learned from, if Y is only a part of them.
Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight = Weight::square,
                              std::int64_t samples = 0);

/// Crosstalk above which a pair gets a warning: a tenth of the amplitude, 20 dB.
inline constexpr double trusted_crosstalk = 0.1;

}  // namespace demix
