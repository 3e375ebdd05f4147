#include "demix/fobi.hpp"

#include "batch/closed_form.hpp"
#include "batch/fobi_start.hpp"
#include "core/sum_over.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

Matrix<double> weighted_covariance(const Recording& X, const Whitening& white, Weight weight) {
  return sum_over(X, WeightedCovarianceRequest{white.mean, white.whitener, weight}).covariance();
}

}  // namespace

Rotation fobi_of(const Matrix<double>& Cz, Weight weight) {
  return {.W = symmetric_eigen(Cz).vectors.transpose(),
          .method = "fobi",
          .options = {{"weight", std::string(weight_name(weight))}},
          .equation = EstimatingEquation{EstimatingEquation::Kind::weighted, {}, weight}};
}

Rotation fobi(const WhiteRecording& white, const FobiOptions& options) {
  return fobi_of(weighted_covariance(white.recording(), white.whitening(), options.weight), options.weight);
}

Rotation fobi_of_first_stage(const WhiteRecording& white) {
  return {.W = fobi_of(weighted_covariance(white.stages().first(), white.whitening(), Weight::square),
                       Weight::square)
                   .W};
}

}  // namespace demix
