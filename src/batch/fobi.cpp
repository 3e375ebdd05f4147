#include "demix/fobi.hpp"

#include <Eigen/Eigenvalues>

#include "batch/frame.hpp"

namespace demix {

Model fobi(const Recording& X, const FobiOptions& options) {
  const ProgressCallback& progress = options.progress;
  const Whitening white = prepare(X, options.whitening, progress);  // h = P (x - mean)
  WeightedMoments weighted(white.mean, white.whitener, options.weight);
  pass(X, progress, 1. / 3, 2. / 3, [&](const Frames<double>& block) { weighted.add(block); });
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> eig(weighted.covariance());            // C_z = U D U^T
  Model model = finish(X, white, eig.eigenvectors().transpose(), options.weight, progress);  // y = U^T h
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
