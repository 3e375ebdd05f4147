#include "demix/fobi.hpp"

#include "batch/fobi_start.hpp"
#include "core/sum_over.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

// C_z = E[w(||h||^2) h h^T] = U D U^T, y = U^T h
Matrix<double> fobi_rotation(const Recording& X, const Whitening& white, Weight weight) {
  const Matrix<double> Cz =
      sum_over(X, WeightedCovarianceRequest{white.mean, white.whitener, weight}).covariance();
  return symmetric_eigen(Cz).vectors.transpose();
}

}  // namespace

Rotation fobi(const WhiteRecording& white, const FobiOptions& options) {
  return {.W = fobi_rotation(white.recording(), white.whitening(), options.weight),
          .method = "fobi",
          .options = {{"weight", std::string(weight_name(options.weight))}},
          .equation = EstimatingEquation{EstimatingEquation::Kind::weighted, {}, options.weight}};
}

Rotation fobi_of_first_stage(const WhiteRecording& white) {
  return {.W = fobi_rotation(white.stages().first(), white.whitening(), Weight::square)};
}

}  // namespace demix
