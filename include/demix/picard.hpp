#pragma once

#include "demix/rotation.hpp"

/// Picard (Ablin, Cardoso, Gramfort 2018): maximum likelihood with the densities of extended Infomax, by
/// L-BFGS on relative changes of W, y = W h, with the Hessian of independent sources as preconditioner:
///   orthogonal (Picard-O):  W <- exp(E) W, E antisymmetric;  least sum_i k_i E[log cosh y_i]
///   free:  W <- (I + E) W;  least sum_i E[k_i log cosh y_i + y_i^2 / 2] - log |det W|
/// k_i = 1 for a super-Gaussian output and -1 for a sub-Gaussian one, found on the way. Where FastICA takes
/// hundreds of steps, on real recordings whose components are not quite independent, this takes some tens. It
/// begins with some of FastICA's, which go farther, on a part of the frames if there are many.
namespace demix {

struct PicardOptions {
  bool orthogonal = true;
  Index max_iterations = 500;
  double tolerance = 1e-7;  ///< of the largest entry of the relative gradient
  Index memory = 10;        ///< of L-BFGS, in steps

  void validate() const;
};

/// Not converging is a status of the rotation. `start`: where to go on from; empty: FOBI's.
Rotation picard(const WhiteRecording& white, const PicardOptions& options = {}, const Rotation& start = {});

/// Whiten, rotate, describe. Throws std::invalid_argument as whiten() does; all other doubts are in the
/// model.
Model picard(const Recording& X, const PicardOptions& options = {}, const BatchOptions& batch = {});
Model picard(const Frames<float>& X, const PicardOptions& options = {}, const BatchOptions& batch = {});
Model picard(const Frames<double>& X, const PicardOptions& options = {}, const BatchOptions& batch = {});

}  // namespace demix
