#pragma once

#include "demix/model.hpp"
#include "demix/recording.hpp"
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
  Order order = Order::kurtosis;
  ProgressCallback progress;
  Matrix<double>* crosstalk = nullptr;  ///< where to put what is to be expected (crosstalk.hpp), if wanted

  void validate() const { whitening.validate(); }
};

/// Throws std::invalid_argument for data that cannot be separated by anything: no channels, not more frames
/// than channels, NaN or Inf, every channel constant. All other doubts are warnings in the model.
Model fobi(const Recording& X, const FobiOptions& options = {});
Model fobi(const Frames<float>& X, const FobiOptions& options = {});
Model fobi(const Frames<double>& X, const FobiOptions& options = {});

}  // namespace demix
