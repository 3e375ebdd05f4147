#include "demix/fobi.hpp"

#include "batch/frame.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

template <typename T>
Model fobi_of(const Frames<T>& X, const FobiOptions& options) {
  const ProgressCallback& progress = options.progress;
  const Whitening white = prepare<T>(X, options.whitening, progress);  // h = P (x - mean)
  WeightedMoments weighted(white.mean, white.whitener, options.weight);
  for_each_chunk<T>(X, progress, 1. / 3, 2. / 3, [&](const Frames<T>& chunk) { weighted.add(chunk); });
  const Eigenpairs eig = symmetric_eigen(weighted.covariance());                         // C_z = U D U^T
  Model model = finish<T>(X, white, eig.vectors.transpose(), options.weight, progress);  // y = U^T h
  model.method = "fobi";
  model.options["weight"] = weight_name(options.weight);
  return model;
}

}  // namespace

Model fobi(const Frames<float>& X, const FobiOptions& options) { return fobi_of<float>(X, options); }
Model fobi(const Frames<double>& X, const FobiOptions& options) { return fobi_of<double>(X, options); }

}  // namespace demix
