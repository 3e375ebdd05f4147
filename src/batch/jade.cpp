#include "demix/jade.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "batch/closed_form.hpp"
#include "batch/joint_diagonaliser.hpp"
#include "core/sum_over.hpp"
#include "demix/fobi.hpp"

namespace demix {
namespace {

// E[||h||^2 h_i h_j] = sum_k C^kk_ij + (d + 2) d_ij
Matrix<double> weighted_covariance_of(const Matrix<double>& cumulants, Index d) {
  Matrix<double> Cz = Matrix<double>::Identity(d, d) * static_cast<double>(d + 2);
  for (Index k = 0; k < d; ++k) {
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i <= j; ++i) {
        Cz(i, j) += cumulants(pair_index(k, k), pair_index(i, j));
        if (i < j) Cz(j, i) = Cz(i, j);
      }
    }
  }
  return Cz;
}

}  // namespace

void JadeOptions::validate() const {
  if (neighbours < 0) {
    throw std::invalid_argument("neighbours: expected 0 (all) or more, got " + std::to_string(neighbours));
  }
  if (max_sweeps < 1) {
    throw std::invalid_argument("max_sweeps: expected at least 1, got " + std::to_string(max_sweeps));
  }
  if (!(tolerance > 0 && tolerance < 1)) throw std::invalid_argument("tolerance: expected between 0 and 1");
}

Rotation jade(const WhiteRecording& white, const JadeOptions& options) {
  // y = U^T h: so the mixing does not matter even to the order of the rotations, and k-JADE knows its
  // neighbours.
  return jade(white, options, fobi(white));
}

Index jade_neighbours(const JadeOptions& options, Index d) {
  options.validate();
  const Index most = options.neighbours == 0 ? 64 : 128;
  if (d > most) {
    throw std::invalid_argument("X: " + std::to_string(d) + " components are too many for " +
                                (options.neighbours == 0 ? "jade" : "k-jade") + ", which takes " +
                                std::to_string(most) + "; keep fewer principal components, or use " +
                                (d <= 128 ? "k-jade" : "fastica"));
  }
  return options.neighbours == 0 ? d : std::min(options.neighbours, d);
}

Rotation jade(const WhiteRecording& white, const JadeOptions& options, const Rotation& start) {
  const Whitening& w = white.whitening();
  const Index k = jade_neighbours(options, white.components());
  return jade_of(sum_over(white.recording(), CumulantRequest{w.mean, start.W * w.whitener, k}), options,
                 start);
}

Rotation jade_of(const FourthSums& fourth, const JadeOptions& options, const Rotation& start) {
  const JointDiagonalisation found =
      joint_diagonalise(fourth.cumulants(), options.max_sweeps, options.tolerance);
  Rotation r{.W = found.V.transpose() * start.W,  // V^T y
             .method = "jade",
             .equation = EstimatingEquation{EstimatingEquation::Kind::squared_contrast, Contrast::cube, {}},
             .convergence = {found.turning == 0, found.sweeps, {}}};
  if (options.neighbours > 0) r.options["neighbours"] = std::to_string(options.neighbours);
  if (found.turning > 0) {
    r.doubt = std::to_string(found.turning) + " pairs of components have not converged after " +
              std::to_string(found.sweeps) +
              " sweeps: too close to Gaussian, or too few frames, to tell apart";
  }
  return r;
}

FobiAndJade fobi_and_jade(const WhiteRecording& white) {
  const Index d = white.components();
  const Whitening& w = white.whitening();
  const FourthSums fourth = sum_over(white.recording(), CumulantRequest{w.mean, w.whitener, d});
  return {fobi_of(weighted_covariance_of(fourth.cumulants(), d), Weight::square),
          jade_of(fourth, {}, {.W = Matrix<double>::Identity(d, d)})};
}

}  // namespace demix
