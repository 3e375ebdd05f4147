#include "demix/white_recording.hpp"

#include <cmath>
#include <stdexcept>

#include "batch/finite_covariance.hpp"
#include "batch/training_stages.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/rotation.hpp"

namespace demix {
namespace {

std::invalid_argument out_of_scale(Index channel, const char* size) {
  return std::invalid_argument("X: the values of channel " + std::to_string(channel + 1) + " are too " +
                               size + " to square; rescale it");
}

// NaN, Inf and values too large to square are thrown.
void require_squares(const Frames<double>& chunk, std::int64_t before) {
  require_finite(chunk, before);
  for (Index i = 0; i < chunk.rows(); ++i) {
    if (chunk.row(i).cwiseAbs().maxCoeff() > 1e150) throw out_of_scale(i, "large");
  }
}

// Squares that vanish are told from those of channels that are 0, in a pass of their own.
void refuse_small(const Recording& X, const Vector<double>& mean, const Vector<double>& variance) {
  if ((variance.array() > 1e-290 || mean.array().abs() > 1e-150).all()) return;
  const Vector<double> largest = sum_over(X, MagnitudeRequest(X.channels())).largest;
  for (Index i = 0; i < X.channels(); ++i) {
    if (largest(i) > 0 && largest(i) < 1e-150) throw out_of_scale(i, "small");
  }
}

}  // namespace

void FiniteCovarianceRequest::add(Moments& sums, const Chunk& chunk) const {
  CovarianceRequest::add(sums, chunk);
  if (sums.finite()) return;
  Matrix<double> buffer;
  require_squares(as_doubles(chunk.frames, buffer), chunk.first);
}

void MagnitudeRequest::add(Sums& sums, const Chunk& chunk) const {
  Matrix<double> buffer;
  const Frames<double> x = as_doubles(chunk.frames, buffer);
  for (Index t = 0; t < x.cols(); ++t) sums.largest = sums.largest.cwiseMax(x.col(t).cwiseAbs());
}

WhiteRecording whiten(const Recording& X, const WhiteningOptions& options) {
  options.validate();
  if (X.channels() == 0) throw std::invalid_argument("X: no channels");
  if (X.channels() == 1) throw std::invalid_argument("X: one channel: nothing to separate");
  const Moments moments = sum_over(X, FiniteCovarianceRequest(X.channels()));
  const Matrix<double> covariance = moments.covariance();
  for (Index i = 0; i < X.channels(); ++i) {
    if (!(covariance(i, i) < 1e300)) throw out_of_scale(i, "large");
  }
  refuse_small(X, moments.mean(), covariance.diagonal());
  if (moments.count() <= X.channels()) {
    throw std::invalid_argument("X: " + std::to_string(moments.count()) + " frames of " +
                                std::to_string(X.channels()) +
                                " channels; more frames than channels are needed (is the data transposed?)");
  }
  Whitening white = whiten(moments.mean(), covariance, X.resolution(), options);
  white.samples = std::llround(moments.effective_count());
  white.frames = X.weights() ? X.weights()->size() : moments.count();
  return {X, std::move(white)};
}

const TrainingStages& WhiteRecording::stages() const {
  if (!stages_) stages_ = std::make_shared<const TrainingStages>(*recording_, whitening_);
  return *stages_;
}

Rotation rotation_near(const WhiteRecording& white, const Matrix<double>& unmixing) {
  const Whitening& w = white.whitening();
  const Index d = white.components();
  if (unmixing.rows() != d || unmixing.cols() != w.mean.size()) {
    throw std::invalid_argument("start: expected an unmixing of " + std::to_string(w.mean.size()) +
                                " channels into " + std::to_string(d) + " components");
  }
  return {.W = orthonormal_rows(unmixing * w.dewhitener)};
}

}  // namespace demix
