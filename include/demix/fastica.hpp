#pragma once

#include <string_view>

#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/whitening.hpp"

/// FastICA (Hyvarinen 1999). On white h = P (x - mean), with y = W h and a nonlinearity g:
///   W <- E[g(y) h^T] - diag(E[g'(y)]) W
/// after which the rows are made orthonormal: all at once, W <- (W W^T)^-1/2 W (symmetric), or each to those
/// found before it (deflation). It starts from FOBI's rotation instead of a random one, and takes its first
/// steps on a part of the frames, so it needs few over all of them and always ends at the same place.
namespace demix {

enum class Contrast { logcosh, exp, cube, skew };
std::string_view contrast_name(Contrast contrast);
Contrast contrast_named(std::string_view name);  ///< throws std::invalid_argument listing the names

struct FastIcaOptions {
  Contrast contrast = Contrast::logcosh;
  bool deflation = false;  ///< one component after the other
  Index max_iterations = 500;
  double tolerance = 1e-7;  ///< of 1 - |cos| of the angle any row of W has still to turn
  Matrix<double> start;     ///< an unmixing to go on from; empty: FOBI's
  WhiteningOptions whitening;
  Order order = Order::kurtosis;
  ProgressCallback progress;

  void validate() const;
};

/// Never throws for not converging: the model then has a warning. Throws std::invalid_argument as fobi()
/// does.
Model fastica(const Recording& X, const FastIcaOptions& options = {});
Model fastica(const Frames<float>& X, const FastIcaOptions& options = {});
Model fastica(const Frames<double>& X, const FastIcaOptions& options = {});

}  // namespace demix
