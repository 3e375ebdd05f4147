#pragma once

#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/whitening.hpp"

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
  Matrix<double> start;     ///< an unmixing to go on from; empty: FOBI's
  WhiteningOptions whitening;
  Order order = Order::kurtosis;
  ProgressCallback progress;

  void validate() const;
};

/// Never throws for not converging: the model then has a warning. Throws std::invalid_argument as fobi()
/// does.
Model picard(const Recording& X, const PicardOptions& options = {});
Model picard(const Frames<float>& X, const PicardOptions& options = {});
Model picard(const Frames<double>& X, const PicardOptions& options = {});

}  // namespace demix
