#pragma once

#include "demix/rotation.hpp"

/// JADE (Cardoso, Souloumiac 1993): the rotation that makes all fourth cumulants of white data as diagonal as
/// they get. With y = U^T h the components that FOBI finds in white h = P (x - mean):
///   C^ij_kl = cum(y_i, y_j, y_k, y_l) = E[y_i y_j y_k y_l] - d_ij d_kl - d_ik d_jl - d_il d_jk
///   V = argmin sum_ij ||off(V^T C^ij V)||^2 over rotations,   sources V^T y
/// k-JADE (Miettinen, Nordhausen, Oja, Taskinen 2013) does with the matrices of |i - j| < k: as FOBI orders
/// the components by kurtosis, those are where equal ones are still mixed.
/// Nothing to choose, nothing random. Of d components there are d^4/24 different moments and d^4/4 numbers to
/// rotate: JADE is for up to about 64 of them, k-JADE for as many as are taken.
namespace demix {

struct JadeOptions {
  Index neighbours = 0;   ///< k of k-JADE; 0 = all cumulant matrices, JADE
  Index max_sweeps = 50;  ///< over all pairs; where there is something to find about ten do
  /// Angle (rad) at which a pair is at rest. Chance alone turns pairs by about 1/sqrt(frames), so this is
  /// more than the data can tell; but it makes the answer the same wherever it is computed, and the last
  /// sweeps, which turn few pairs, cost little.
  double tolerance = 1e-8;

  void validate() const;
};

/// Two passes. Not converging is a status of the rotation. Throws std::invalid_argument for more than 64
/// components (k-JADE: 128).
Rotation jade(const WhiteRecording& white, const JadeOptions& options = {});
/// One pass, from a rotation that does not depend on the mixing, as FOBI's does not. (Only with that does
/// k-JADE know its neighbours.)
Rotation jade(const WhiteRecording& white, const JadeOptions& options, const Rotation& start);

/// Whiten, rotate, describe. Throws std::invalid_argument as whiten() does; all other doubts are in the
/// model.
Model jade(const Recording& X, const JadeOptions& options = {}, const BatchOptions& batch = {});
Model jade(const Frames<float>& X, const JadeOptions& options = {}, const BatchOptions& batch = {});
Model jade(const Frames<double>& X, const JadeOptions& options = {}, const BatchOptions& batch = {});

}  // namespace demix
