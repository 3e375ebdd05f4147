#include "demix/fobi.hpp"

#include "batch/frame.hpp"
#include "core/parallel_sum.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {

Model fobi(const Recording& X, const FobiOptions& options) {
  const ProgressCallback& progress = options.progress;
  const Whitening white = prepare(X, options.whitening, progress);  // h = P (x - mean)
  WeightedMoments weighted(white.mean, white.whitener, options.weight);
  parallel_sum(X, progress, 1. / 3, 2. / 3, weighted,
               [&](WeightedMoments& sum, const Frames<double>& chunk, std::int64_t before) {
                 sum.add(chunk, X.weights_from(before));
               });
  const Eigenpairs eig = symmetric_eigen(weighted.covariance());  // C_z = U D U^T
  Model model =
      finish(X, white, eig.vectors.transpose(), {options.weight, options.order, progress});  // y = U^T h
  model.method = "fobi";
  model.options["weight"] = weight_name(options.weight);
  return model;
}

Model fobi(const Frames<float>& X, const FobiOptions& options) {
  return fobi(MatrixRecording<float>(X), options);
}
Model fobi(const Frames<double>& X, const FobiOptions& options) {
  return fobi(MatrixRecording<double>(X), options);
}

}  // namespace demix
