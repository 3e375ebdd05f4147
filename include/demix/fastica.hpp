#pragma once

#include <string_view>

#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/whitening.hpp"

/// FastICA (Hyvarinen 1999), symmetric. On white h = P (x - mean), with y = W h and a nonlinearity g:
///   W <- E[g(y) h^T] - diag(E[g'(y)]) W
///   W <- (W W^T)^-1/2 W
/// It starts from FOBI's rotation instead of a random one, so it needs few steps and always ends at the same
/// place.
namespace demix {

enum class Contrast { logcosh, exp, cube, skew };
Contrast contrast_named(std::string_view name);  ///< throws std::invalid_argument listing the names

struct FastIcaOptions {
  Contrast contrast = Contrast::logcosh;
  Index max_iterations = 500;
  double tolerance = 1e-7;        ///< of 1 - |cos| of the angle any row of W still turns by in a step
  Index values = Index{1} << 23;  ///< held in memory: of longer recordings every k-th frame is learned from
  WhiteningOptions whitening;
  ProgressCallback progress;

  void validate() const;
};

/// Never throws for not converging: the model then has a warning. Throws std::invalid_argument as fobi()
/// does.
Model fastica(const Recording& X, const FastIcaOptions& options = {});
Model fastica(const Frames<double>& X, const FastIcaOptions& options = {});

}  // namespace demix
