#include "batch/frame.hpp"

#include <Eigen/LU>

#include <algorithm>
#include <stdexcept>

#include "core/blocks.hpp"
#include "core/warnings.hpp"
#include "demix/crosstalk.hpp"
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

std::invalid_argument out_of_scale(Index channel, const char* size) {
  return std::invalid_argument("X: the values of channel " + std::to_string(channel + 1) + " are too " +
                               size + " to square; rescale it");
}

void warn_of_crosstalk(Model& model, const Matrix<double>& crosstalk) {
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk) warn_of_close_kurtosis(model, i, j);
    }
  }
}

}  // namespace

Sample::Sample(Index rows, std::int64_t frames, std::int64_t enough)
    : stride_(std::max<Index>(1, (frames + enough - 1) / enough)),
      kept_(rows, (frames + stride_ - 1) / stride_) {}

void Sample::add(const Frames<double>& block) {
  for (; skip_ < block.cols() && count_ < kept_.cols(); skip_ += stride_)
    kept_.col(count_++) = block.col(skip_);
  skip_ -= block.cols();
}

Whitening prepare(const Recording& X, const WhiteningOptions& options, const ProgressCallback& progress) {
  options.validate();
  if (X.channels() == 0) throw std::invalid_argument("X: no channels");
  Moments moments(X.channels());
  Vector<double> largest = Vector<double>::Zero(X.channels());
  pass(X, progress, 0, 1. / 3, [&](const Frames<double>& block) {
    require_finite(block, moments.count());
    largest = largest.cwiseMax(block.cwiseAbs().rowwise().maxCoeff());
    for (Index i = 0; i < X.channels(); ++i) {  // squares must not overflow
      if (largest(i) > 1e150) throw out_of_scale(i, "large");
    }
    moments.add(block);
  });
  for (Index i = 0; i < X.channels(); ++i) {  // nor vanish
    if (largest(i) > 0 && largest(i) < 1e-150) throw out_of_scale(i, "small");
  }
  if (moments.count() <= X.channels()) {
    throw std::invalid_argument("X: " + std::to_string(moments.count()) + " frames of " +
                                std::to_string(X.channels()) +
                                " channels; more frames than channels are needed (is the data transposed?)");
  }
  Whitening white = whiten(moments.mean(), moments.covariance(), X.resolution(), options);
  white.samples = moments.count();
  return white;
}

Model finish(const Recording& X, const Whitening& white, const Matrix<double>& Q,
             std::optional<Weight> weight, const ProgressCallback& progress) {
  Model model;
  model.version = version;
  model.samples = white.samples;
  model.mean = white.mean;
  model.unmixing = Q * white.whitener;
  model.mixing = white.dewhitener * Q.transpose() * (Q * Q.transpose()).inverse();

  Vector<double> second = Vector<double>::Zero(model.components());
  Vector<double> fourth = second;
  Sample sample(model.channels(), model.samples);
  Matrix<double> y;
  pass(X, progress, 2. / 3, 1, [&](const Frames<double>& part) {
    sample.add(part);
    for_each_block<double>(part, [&](Matrix<double>& block) {
      block.colwise() -= model.mean;
      y.noalias() = model.unmixing * block;
      y = y.array().square();
      second += y.rowwise().sum();
      fourth += y.rowwise().squaredNorm();
    });
  });
  model.kurtosis = fourth.array() * static_cast<double>(model.samples) / second.array().square();
  put_in_order(model, white.dewhitener.rowwise().norm());
  warn_of_rank(model, white.rank, missing_rank(white, model.channels()));
  warn_of_few_samples(model);
  if (weight) warn_of_crosstalk(model, fobi_crosstalk(model.apply(sample.matrix()), *weight, model.samples));
  return model;
}

}  // namespace demix
