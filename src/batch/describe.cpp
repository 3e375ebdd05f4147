#include <algorithm>
#include <cmath>
#include <numeric>

#include "batch/closed_form.hpp"
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
    text += white.constant.size() == 1 ? "; constant: channel " : "; constant: channels ";
    text += list_of(white.constant);
  }
  if (white.rank + static_cast<Index>(white.constant.size()) < channels) {
    text += white.constant.empty() ? "; some are copies or sums of others"
                                   : "; some of the rest are copies or sums";
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

// What was summed up, of outputs in this order. Takes the pieces of the outputs, which are large.
Evidence evidence_of(OutputSums& sums, const OutputRequest& request, const std::vector<Index>& order) {
  Evidence e;
  e.y = request.segments_of(sums, order);
  sums.pieces = {};
  e.ends = sums.ends;
  e.segment_frames = OutputRequest::segment_frames;
  e.overlap = request.segments_overlap();
  for (const auto& [number, stretch] : sums.stretches) {
    if (stretch.total > 0) e.means.emplace_back(Vector<double>(stretch.sum(order)) / stretch.total);
  }
  for (const Index k : order) e.largest.push_back(sums.largest[static_cast<std::size_t>(k)].descending());
  e.fourth = sums.fourth(order);
  return e;
}

std::vector<Index> as_they_are(Index d) {
  std::vector<Index> order(static_cast<std::size_t>(d));
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

Model model_of(const Whitening& w, const Rotation& rotation) {
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
  return model;
}

void warn_of_basis(Model& model, const Whitening& w, const Rotation& rotation) {
  warn_of_rank(model, w.rank, missing_rank(w, model.channels()));
  warn_of_few_samples(model);
  if (!rotation.doubt.empty()) model.warnings.push_back({Warning::Kind::not_converged, rotation.doubt, {}});
}

Model describe(const WhiteRecording& white, const Rotation& rotation, Order by) {
  const Whitening& w = white.whitening();
  const Matrix<double>& Q = rotation.W;
  Model model = model_of(w, rotation);
  const OutputRequest request(white, model.unmixing, rotation.equation);
  OutputSums sums = sum_over(white.recording(), request);
  model.kurtosis = sums.fourth.array() * sums.total / sums.second.array().square();
  Matrix<double> crosstalk;
  if (rotation.equation) {
    const double rounding = 10 * white.recording().resolution() * w.condition;
    const Matrix<float> y = rotation.equation->weight == Weight::square
                                ? Matrix<float>(Q.rows(), 0)
                                : request.segments_of(sums, as_they_are(Q.rows()));
    crosstalk = expect_crosstalk(sums, *rotation.equation, kappa_of(rotation.equation->weight, y), rounding,
                                 model.diagnosis);
  } else {
    model.diagnosis.no_crosstalk = "nothing is known about the errors of this method";
  }
  // Outputs were summed up in the order they had: what is known of them follows them into the new one.
  const std::vector<Index> order = put_in_order(model, w.dewhitener.rowwise().norm(), by);
  if (auto& expected = model.diagnosis.crosstalk)
    expected->pairs = Matrix<double>(expected->pairs(order, order));
  Evidence evidence = evidence_of(sums, request, order);
  if (crosstalk.size() > 0) evidence.crosstalk = crosstalk(order, order);

  warn_of_basis(model, w, rotation);
  find_unresolved(model, evidence);
  find_coherence(model, evidence);
  find_common_magnitude(model, evidence);
  find_glitches(model, evidence);
  find_drift(model, evidence);
  find_clipping(model, evidence);
  return model;
}

}  // namespace demix
