#include "demix/jade.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "batch/cumulants.hpp"
#include "batch/frame.hpp"
#include "batch/joint_diagonaliser.hpp"
#include "core/warnings.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
void JadeOptions::validate() const {
  whitening.validate();
  if (neighbours < 0) {
    throw std::invalid_argument("neighbours: expected 0 (all) or more, got " + std::to_string(neighbours));
  }
  if (max_sweeps < 1) {
    throw std::invalid_argument("max_sweeps: expected at least 1, got " + std::to_string(max_sweeps));
  }
  if (!(tolerance > 0 && tolerance < 1)) throw std::invalid_argument("tolerance: expected between 0 and 1");
}

Model jade(const Recording& X, const JadeOptions& options) {
  options.validate();
  const Whitening white = prepare(X, options.whitening, options.progress);  // h = P (x - mean)
  const Index d = white.components();
  const Index most = options.neighbours == 0 ? 64 : 128;
  if (d > most) {
    throw std::invalid_argument("X: " + std::to_string(d) + " components are too many for " +
                                (options.neighbours == 0 ? "jade" : "k-jade") + ", which takes " +
                                std::to_string(most) + "; keep fewer principal components, or use " +
                                (d <= 128 ? "k-jade" : "fastica"));
  }
  // It starts from y = U^T h, so that the mixing does not matter even to the order of the rotations, and
  // k-JADE knows its neighbours.
  const Matrix<double> U = fobi_eigenpairs(X, white).vectors;
  const Index k = options.neighbours == 0 ? d : std::min(options.neighbours, d);
  const JointDiagonalisation found =
      joint_diagonalise(cumulant_matrices(X, white.mean, U.transpose() * white.whitener, k, options.progress),
                        options.max_sweeps, options.tolerance);
  Model model = finish(X, white, (U * found.V).transpose(),
                       {.order = options.order, .progress = options.progress});  // V^T y
  model.method = "jade";
  model.convergence = {found.turning == 0, found.sweeps, {}};
  if (options.neighbours > 0) model.options["neighbours"] = std::to_string(options.neighbours);
  warn_of_gaussians(model);
  if (found.turning > 0) {
    model.warnings.push_back({Warning::Kind::not_converged,
                              std::to_string(found.turning) + " pairs of components still turn after " +
                                  std::to_string(found.sweeps) +
                                  " sweeps: too close to Gaussian, or too few frames, to tell apart",
                              {}});
  }
  return model;
}

Model jade(const Frames<float>& X, const JadeOptions& options) {
  return jade(MatrixRecording<float>(X), options);
}
Model jade(const Frames<double>& X, const JadeOptions& options) {
  return jade(MatrixRecording<double>(X), options);
}

}  // namespace demix
