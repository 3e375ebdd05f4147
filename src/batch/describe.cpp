#include <algorithm>
#include <cmath>

#include "batch/diagnosis.hpp"
#include "batch/expected_crosstalk.hpp"
#include "core/warnings.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/rotation.hpp"
#include "demix/version.hpp"

namespace demix {
namespace {

// Which channels do not add to the rank, for a warning.
std::string missing_rank(const Whitening& white, Index channels) {
  std::string text;
  if (!white.constant.empty()) {
    text += "; constant: channel";
    for (const Index c : white.constant) text += " " + std::to_string(c + 1);
  }
  if (white.rank + static_cast<Index>(white.constant.size()) < channels) {
    text += "; duplicated or linearly dependent channels among the rest";
  }
  return text;
}

// kappa_ij = E[w'(||y||^2) y_i^2 y_j^2]; 1 for the square
Matrix<double> kappa_of(Weight weight, const Matrix<float>& y) {
  if (weight == Weight::square) return Matrix<double>::Ones(y.rows(), y.rows());
  const Matrix<double> square = y.cast<double>().cwiseAbs2();
  const Vector<double> slope =
      square.colwise().sum().transpose().unaryExpr([&](double a) { return weight_derivative(weight, a); });
  return square * slope.asDiagonal() * square.transpose() / static_cast<double>(std::max<Index>(1, y.cols()));
}

// Outputs as they were summed up.
Evidence evidence_of(const OutputSums& sums, const OutputRequest& request, const Model& model) {
  Evidence e;
  e.x = request.segments_of(sums);
  if (request.in_float()) {
    e.y = model.unmixing.cast<float>() * (e.x.colwise() - model.mean).cast<float>();
  } else {
    e.y = (model.unmixing * (e.x.colwise() - model.mean)).cast<float>();
  }
  e.segment_frames = OutputRequest::segment_frames;
  e.overlap = request.segments_overlap();
  for (const auto& [number, stretch] : sums.stretches) {
    if (stretch.total > 0) e.means.emplace_back(stretch.sum / stretch.total);
  }
  e.largest = sums.largest;
  e.fourth = sums.fourth;
  return e;
}

// The same of components in another order.
void put_in_order(Evidence& e, const std::vector<Index>& order) {
  e.y = Matrix<float>(e.y(order, Eigen::all));
  for (Vector<double>& mean : e.means) mean = Vector<double>(mean(order));
  std::vector<std::vector<OutputSums::Large>> largest;
  for (const Index k : order) largest.push_back(std::move(e.largest[static_cast<std::size_t>(k)]));
  e.largest = std::move(largest);
  e.fourth = Vector<double>(e.fourth(order));
  if (e.crosstalk.size() > 0) e.crosstalk = Matrix<double>(e.crosstalk(order, order));
}

}  // namespace

Model describe(const WhiteRecording& white, const Rotation& rotation, Order by) {
  const Whitening& w = white.whitening();
  const Matrix<double>& Q = rotation.W;
  Model model;
  model.method = rotation.method;
  model.options = rotation.options;
  model.convergence = rotation.convergence;
  model.version = version;
  model.samples = w.samples;
  model.mean = w.mean;
  model.unmixing = Q * w.whitener;
  model.mixing = w.dewhitener * Q.transpose() * inverse(Q * Q.transpose());

  const OutputRequest request(white, model.unmixing, rotation.equation);
  const OutputSums sums = sum_over(white.recording(), request);
  model.kurtosis = sums.fourth.array() * sums.total / sums.second.array().square();
  Evidence evidence = evidence_of(sums, request, model);
  if (rotation.equation) {
    const double rounding = 10 * white.recording().resolution() * w.condition;
    evidence.crosstalk = expect_crosstalk(
        sums, *rotation.equation, kappa_of(rotation.equation->weight, evidence.y), rounding, model.diagnosis);
  } else {
    model.diagnosis.no_crosstalk = "nothing is known about the errors of this method";
  }
  // Outputs were summed up in the order they had: what is known of them follows them into the new one.
  const std::vector<Index> order = put_in_order(model, w.dewhitener.rowwise().norm(), by);
  if (auto& crosstalk = model.diagnosis.crosstalk) {
    crosstalk->pairs = Matrix<double>(crosstalk->pairs(order, order));
  }
  put_in_order(evidence, order);

  warn_of_rank(model, w.rank, missing_rank(w, model.channels()));
  warn_of_few_samples(model);
  if (!rotation.doubt.empty()) model.warnings.push_back({Warning::Kind::not_converged, rotation.doubt, {}});
  find_unresolved(model, evidence);
  find_coherence(model, evidence);
  find_common_magnitude(model, evidence);
  find_glitches(model, evidence);
  find_drift(model, evidence);
  find_clipping(model, evidence);
  return model;
}

}  // namespace demix
