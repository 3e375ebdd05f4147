#pragma once

#include "demix/rotation.hpp"

/// FastICA (Hyvarinen 1999). On white h = P (x - mean), with y = W h and a nonlinearity g:
///   W <- E[g(y) h^T] - diag(E[g'(y)]) W
/// after which the rows are made orthonormal: all at once, W <- (W W^T)^-1/2 W (symmetric), or each to those
/// found before it (deflation). It starts from FOBI's rotation instead of a random one, and takes its first
/// steps on a part of the frames, so it needs few over all of them and always ends at the same place.
namespace demix {

struct FastIcaOptions {
  Contrast contrast = Contrast::logcosh;
  bool deflation = false;  ///< one component after the other
  Index max_iterations = 500;
  double tolerance = 1e-7;  ///< of 1 - |cos| of the angle any row of W has still to turn

  void validate() const;
};

/// Not converging is a status of the rotation. `start`: where to go on from; empty: FOBI's.
Rotation fastica(const WhiteRecording& white, const FastIcaOptions& options = {}, const Rotation& start = {});

/// Whiten, rotate, describe. Throws std::invalid_argument as whiten() does; all other doubts are in the
/// model.
Model fastica(const Recording& X, const FastIcaOptions& options = {}, const BatchOptions& batch = {});
Model fastica(const Frames<float>& X, const FastIcaOptions& options = {}, const BatchOptions& batch = {});
Model fastica(const Frames<double>& X, const FastIcaOptions& options = {}, const BatchOptions& batch = {});

}  // namespace demix
