#include "batch/frame.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/blocks.hpp"
#include "core/frame_kernels.hpp"
#include "core/parallel_sum.hpp"
#include "core/warnings.hpp"
#include "demix/crosstalk.hpp"
#include "demix/linear_algebra.hpp"
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

// What the first pass gathers.
struct First {
  Moments moments;
  Vector<double> largest;  // |x| of each channel

  void add(const Frames<double>& chunk, std::int64_t before) {
    for (Index t = 0; t < chunk.cols(); ++t) largest = largest.cwiseMax(chunk.col(t).cwiseAbs());
    for (Index i = 0; i < largest.size(); ++i) {  // squares must neither overflow nor, later, vanish
      if (!(largest(i) <= 1e150)) require_finite(chunk, before);
      if (largest(i) > 1e150) throw out_of_scale(i, "large");
    }
    moments.add(chunk);
    if (!moments.covariance().allFinite()) require_finite(chunk, before);
  }
  void merge(const First& other) {
    moments.merge(other.moments);
    largest = largest.cwiseMax(other.largest);
  }
};

// What the last pass gathers: of the outputs the second and fourth powers.
struct Powers {
  Vector<double> second, fourth;

  void merge(const Powers& other) {
    second += other.second;
    fourth += other.fourth;
  }
};

void warn_of_crosstalk(Model& model, const Matrix<double>& crosstalk) {
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk) warn_of_close_kurtosis(model, i, j);
    }
  }
}

}  // namespace

Sample::Sample(Index rows, std::int64_t frames, std::int64_t enough)
    : stride_(std::max<std::int64_t>(1, (frames + enough - 1) / enough)),
      kept_(rows, (frames + stride_ - 1) / stride_) {}

void Sample::add(const Frames<double>& chunk, std::int64_t before) {
  const std::int64_t first = (before + stride_ - 1) / stride_;  // of those kept
  for (std::int64_t k = first; k * stride_ < before + chunk.cols(); ++k)
    kept_.col(k) = chunk.col(k * stride_ - before);
}

Matrix<double> sample_of(const Recording& X, std::int64_t frames) {
  Sample sample(X.channels(), frames);
  std::int64_t before = 0;
  X.pass([&](const Frames<double>& chunk) {
    sample.add(chunk, before);
    before += chunk.cols();
  });
  return sample.matrix();
}

Whitening prepare(const Recording& X, const WhiteningOptions& options, const ProgressCallback& progress) {
  options.validate();
  if (X.channels() == 0) throw std::invalid_argument("X: no channels");
  First first{Moments(X.channels()), Vector<double>::Zero(X.channels())};
  parallel_sum(X, progress, 0, 1. / 3, first,
               [](First& sum, const Frames<double>& chunk, std::int64_t before) { sum.add(chunk, before); });
  const Moments& moments = first.moments;
  for (Index i = 0; i < X.channels(); ++i) {
    if (first.largest(i) > 0 && first.largest(i) < 1e-150) throw out_of_scale(i, "small");
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
  model.mixing = white.dewhitener * Q.transpose() * inverse(Q * Q.transpose());

  Powers powers{Vector<double>::Zero(model.components()), Vector<double>::Zero(model.components())};
  Sample sample(model.channels(), model.samples);
  parallel_sum(X, progress, 2. / 3, 1, powers,
               [&](Powers& sum, const Frames<double>& chunk, std::int64_t before) {
                 sample.add(chunk, before);
                 Matrix<double> y;
                 for_each_centred_block<double>(chunk, model.mean, [&](Matrix<double>& block, Index) {
                   multiply(block, model.unmixing, y);
                   y = y.array().square();
                   sum.second += y.colwise().sum();
                   sum.fourth += y.colwise().squaredNorm();
                 });
               });
  model.kurtosis =
      powers.fourth.array() * static_cast<double>(model.samples) / powers.second.array().square();
  put_in_order(model, white.dewhitener.rowwise().norm());
  warn_of_rank(model, white.rank, missing_rank(white, model.channels()));
  warn_of_few_samples(model);
  if (weight) warn_of_crosstalk(model, fobi_crosstalk(model.apply(sample.matrix()), *weight, model.samples));
  return model;
}

}  // namespace demix
