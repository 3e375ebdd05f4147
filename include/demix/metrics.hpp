#pragma once

#include <cstdint>

#include "demix/types.hpp"

/// How good a separation is. Sources S and outputs Y are components x samples; P = B A is demixing times
/// mixing.
namespace demix {

/// Which output is which source, and with which sign.
struct Matching {
  std::vector<Index> output;  ///< output[i] belongs to source i
  std::vector<int> sign;      ///< source i ~ sign[i] * output[output[i]]
};

/// The paper's error, as a function of time: min over signs and permutations of
///   (1/(t d)) sum_{t' <= t} || s_t' - Xi Pi y_t' ||^2
/// kept as sums of products, so any moment can be asked for at the cost of one assignment.
class RunningMse {
 public:
  explicit RunningMse(Index d);
  void add(const Frames<float>& S, const Frames<float>& Y);
  void add(const Frames<double>& S, const Frames<double>& Y);

  std::int64_t count() const { return count_; }
  double mse() const;                     ///< NaN before the first frame
  Vector<double> mse_per_source() const;  ///< of each source under the best matching
  Matching matching() const;

 private:
  Matrix<double> cost() const;

  std::int64_t count_ = 0;
  Vector<double> ss_, yy_;  // sum s_i^2, sum y_j^2
  Matrix<double> sy_;       // sum s_i y_j
};

/// RunningMse over all frames at once.
double mse(const Frames<double>& S, const Frames<double>& Y);

/// Error of y = P s for sources of zero mean and unit variance, from the matrix alone: the paper's MSE in
/// expectation.
double mse_of_gain(const Matrix<double>& P);

/// Moreau-Amari index of P: 0 for a scaled permutation, at most 1. Blind to the scale of outputs, not of
/// sources.
double amari_index(const Matrix<double>& P);

/// MD index (Ilmonen, Nordhausen, Oja, Ollila 2010): (d-1)^-1/2 min ||C P - I|| over scaled permutations C;
/// in [0, 1].
double md_index(const Matrix<double>& P);

/// BSS Eval with the true sources as allowed distortions by a gain each (Vincent, Gribonval, Fevotte 2006),
/// in dB within +-300, one value per source. Outputs are matched for the best mean SIR unless a matching is
/// given.
struct BssEval {
  Vector<double> sdr;  ///< against everything
  Vector<double> sir;  ///< against the other sources
  Vector<double> sar;  ///< against what is no source at all
  Matching matching;
};
BssEval bss_eval(const Frames<double>& S, const Frames<double>& Y, const Matching* matching = nullptr);

/// Mutual information between the channels of X that y = unmixing x takes out (Delorme, Palmer, Onton,
/// Oostenveld, Makeig 2012), nats per frame: sum H(x_i) - sum H(y_i) + log |det unmixing|. unmixing is
/// square.
double mutual_information_reduction(const Matrix<double>& unmixing, const Frames<double>& X);

/// Rows shifted and scaled to mean 0 and variance 1 (a constant row becomes 0).
Matrix<double> standardized(const Frames<double>& X);

}  // namespace demix
