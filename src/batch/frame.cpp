#include "batch/frame.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/blocks.hpp"
#include "core/crosstalk_sums.hpp"
#include "core/four_channels.hpp"
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

// The channel, if any, whose values are too large to square; NaN and Inf are thrown.
void require_squares(const Frames<double>& chunk, std::int64_t before) {
  require_finite(chunk, before);
  for (Index i = 0; i < chunk.rows(); ++i) {
    if (chunk.row(i).cwiseAbs().maxCoeff() > 1e150) throw out_of_scale(i, "large");
  }
}

// Squares that vanish are told from those of channels that are 0, in a pass of their own.
void refuse_small(const Recording& X, const Vector<double>& mean, const Vector<double>& variance) {
  if ((variance.array() > 1e-290 || mean.array().abs() > 1e-150).all()) return;
  Vector<double> largest = Vector<double>::Zero(X.channels());
  X.pass([&](const Frames<double>& chunk) {
    for (Index t = 0; t < chunk.cols(); ++t) largest = largest.cwiseMax(chunk.col(t).cwiseAbs());
  });
  for (Index i = 0; i < X.channels(); ++i) {
    if (largest(i) > 0 && largest(i) < 1e-150) throw out_of_scale(i, "small");
  }
}

// The outputs W (x - mean), to be computed in double or in float.
struct Outputs {
  Outputs(const Recording& X, const Whitening& white, const Matrix<double>& unmixing)
      : mean(white.mean), W(unmixing), in_double(W), in_float(W) {
    // For what is said about outputs, five digits are enough. They have the variance 1; what is lost is a
    // rounding of the channels, as far as they do not cancel.
    constexpr auto rounding = static_cast<double>(std::numeric_limits<float>::epsilon());
    const Vector<double> deviation = white.dewhitener.rowwise().norm();
    const double largest = (W * deviation.asDiagonal()).rowwise().norm().maxCoeff();
    float_is_enough = !X.weights() && rounding * largest < 1e-5 && fits_float(W);
  }

  const Vector<double>& mean;
  const Matrix<double>& W;
  Multiplier<double> in_double;
  Multiplier<float> in_float;
  bool float_is_enough;
};

// What the last pass gathers: of the outputs the second and fourth powers, and of some of them what is needed
// to tell which pairs are too close.
struct Last {
  Vector<double> second, fourth;
  double total = 0;  // of the weights
  std::optional<CrosstalkSums> crosstalk;

  void add(const AnyFrames& chunk, const Outputs& outputs, const double* weights, bool with_crosstalk) {
    const auto* doubles = std::get_if<Frames<double>>(&chunk);
    if (weights || with_crosstalk) {
      add_all(chunk, outputs, weights, with_crosstalk);
    } else if (doubles && outputs.W.rows() == 4 && outputs.W.cols() == 4) {
      add_powers_of_four(*doubles, outputs.mean, outputs.W, second, fourth);
      total += static_cast<double>(doubles->cols());
    } else if (outputs.float_is_enough) {
      add_powers_of(chunk, outputs.mean, outputs.in_float);
    } else {
      add_powers_of(chunk, outputs.mean, outputs.in_double);
    }
  }
  void merge(const Last& other) {
    second += other.second;
    fourth += other.fourth;
    total += other.total;
    if (crosstalk) crosstalk->merge(*other.crosstalk);
  }

 private:
  template <typename T>
  void add_powers_of(const AnyFrames& chunk, const Vector<double>& mean, const Multiplier<T>& W) {
    Scratch<T> y;
    for_each_centred_block<T>(chunk, mean, nullptr, [&](const Block<T>& block) {
      multiply(W, block.x, *y, block.ahead);
      add_powers(*y, second, fourth);
      total += block.total();
    });
  }
  void add_all(const AnyFrames& chunk, const Outputs& outputs, const double* weights, bool with_crosstalk) {
    const Index d = outputs.W.rows();
    Scratch y;
    for_each_centred_block(chunk, outputs.mean, weights, [&](const Block<double>& block) {
      multiply(outputs.in_double, block.x, *y, block.ahead);
      Vector<double> w = Vector<double>::Ones(block.frames());
      if (weights) w = Eigen::Map<const Vector<double>>(block.weights, block.frames());
      const Matrix<double> square = y->topRows(d).array().square();
      second += square * w;
      fourth += square.array().square().matrix() * w;
      total += block.total();
      if (with_crosstalk) crosstalk->add(*y, d, block.weights);
    });
  }
};

// Every so manieth chunk is enough to estimate what varies little.
Index chunks_between(std::int64_t frames) {
  constexpr Index enough = 1 << 14;
  return std::max<Index>(1, frames / enough);
}

// E[w(||y||^2) y y^T] of y = P (x - mean)
Matrix<double> weighted_covariance(const Recording& X, const Vector<double>& mean, const Matrix<double>& P,
                                   Weight weight, const ProgressCallback& progress = {}) {
  WeightedMoments weighted(mean, P, weight);
  parallel_sum(X, progress, 1. / 3, 2. / 3, weighted,
               [&](WeightedMoments& sum, const AnyFrames& chunk, std::int64_t before) {
                 sum.add(chunk, X.weights_from(before));
               });
  return weighted.covariance();
}

void warn_of_crosstalk(Model& model, const Matrix<double>& crosstalk) {
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk) warn_of_close_kurtosis(model, i, j);
    }
  }
}

}  // namespace

template <typename T>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough) {
  const std::int64_t stride = std::max<std::int64_t>(1, (frames + enough - 1) / enough);
  Sample<T> sample{Matrix<T>(X.channels(), (frames + stride - 1) / stride), {}};
  const auto keep = [&](const auto& chunk, std::int64_t before) {
    for (std::int64_t k = (before + stride - 1) / stride; k * stride < before + chunk.cols(); ++k)
      sample.frames.col(k) = chunk.col(k * stride - before).template cast<T>();
  };
  std::int64_t before = 0;
  if (X.anywhere()) {
    Recording::Room room;
    for (; before < frames; before += stride) {
      std::visit([&](const auto& frame) { keep(frame, before); }, X.frames_at(before, 1, room));
    }
  } else {
    X.pass([&](const Frames<double>& chunk) {
      keep(chunk, before);
      before += chunk.cols();
    });
  }
  if (X.weights()) {
    sample.weights.resize(sample.frames.cols());
    for (Index k = 0; k < sample.weights.size(); ++k) sample.weights(k) = (*X.weights())(k * stride);
  }
  return sample;
}
template Sample<float> sample_of(const Recording&, std::int64_t, std::int64_t);
template Sample<double> sample_of(const Recording&, std::int64_t, std::int64_t);

Whitening prepare(const Recording& X, const WhiteningOptions& options, const ProgressCallback& progress) {
  options.validate();
  if (X.channels() == 0) throw std::invalid_argument("X: no channels");
  Moments moments(X.channels());
  parallel_sum(X, progress, 0, 1. / 3, moments,
               [&](Moments& sum, const AnyFrames& chunk, std::int64_t before) {
                 sum.add(chunk, X.weights_from(before));
                 if (sum.finite()) return;
                 Matrix<double> room;
                 require_squares(as_doubles(chunk, room), before);
               });
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
  return white;
}

Eigenpairs fobi_eigenpairs(const Recording& X, const Whitening& white, Weight weight,
                           const ProgressCallback& progress) {
  return symmetric_eigen(weighted_covariance(X, white.mean, white.whitener, weight, progress));
}

Matrix<double> rotation_near(const Matrix<double>& unmixing, const Whitening& white) {
  const Index d = white.components();
  if (unmixing.rows() != d || unmixing.cols() != white.mean.size()) {
    throw std::invalid_argument("start: expected an unmixing of " + std::to_string(white.mean.size()) +
                                " channels into " + std::to_string(d) + " components");
  }
  const Matrix<double> W = unmixing * white.dewhitener;
  return inverse_sqrt(symmetric_eigen(W * W.transpose())) * W;
}

Model finish(const Recording& X, const Whitening& white, const Matrix<double>& Q, const Finish& how) {
  Model model;
  model.version = version;
  model.samples = white.samples;
  model.mean = white.mean;
  model.unmixing = Q * white.whitener;
  model.mixing = white.dewhitener * Q.transpose() * inverse(Q * Q.transpose());

  const Vector<double> zero = Vector<double>::Zero(model.components());
  Last last{zero, zero, 0, {}};
  Vector<double> D;
  if (how.by) {
    last.crosstalk.emplace(how.by->weight);
    D = how.by->D;
    if (D.size() == 0) D = weighted_covariance(X, white.mean, model.unmixing, how.by->weight).diagonal();
  }
  const Index every = chunks_between(white.frames);
  const Outputs outputs(X, white, model.unmixing);
  parallel_sum(X, how.progress, 2. / 3, 1, last, [&](Last& sum, const AnyFrames& chunk, std::int64_t before) {
    const bool one_of_some = sum.crosstalk && before / X.chunk_frames() % every == 0;
    sum.add(chunk, outputs, X.weights_from(before), one_of_some);
  });
  model.kurtosis = last.fourth.array() * last.total / last.second.array().square();
  // Outputs were summed up in the order they had: their crosstalk follows them into the new one.
  const std::vector<Index> order = put_in_order(model, white.dewhitener.rowwise().norm(), how.order);
  warn_of_rank(model, white.rank, missing_rank(white, model.channels()));
  warn_of_few_samples(model);
  if (last.crosstalk) {
    const Matrix<double> crosstalk =
        last.crosstalk->crosstalk(D, static_cast<double>(model.samples))(order, order);
    warn_of_crosstalk(model, crosstalk);
    if (how.by->crosstalk) *how.by->crosstalk = crosstalk;
  }
  return model;
}

}  // namespace demix
