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

// What the last pass gathers: of the outputs the second and fourth powers.
struct Powers {
  Vector<double> second, fourth;
  double total = 0;  // of the weights

  void add(const AnyFrames& chunk, const Vector<double>& mean, const Matrix<float>& W) {
    Scratch<float> y;
    for_each_centred_block<float>(chunk, mean, nullptr,
                                  [&](Matrix<float>& block, Index frames, const double*) {
                                    multiply(block, W, *y);
                                    add_powers(*y, second, fourth);
                                    total += static_cast<double>(frames);
                                  });
  }
  void add(const Matrix<double>& y, Index frames, const double* weights) {
    if (!weights) {
      add_powers(y, second, fourth);
      total += static_cast<double>(frames);
      return;
    }
    const Eigen::Map<const Vector<double>> w(weights, y.rows());
    const Matrix<double> square = y.array().square();
    second += square.transpose() * w;
    fourth += square.array().square().matrix().transpose() * w;
    total += w.sum();
  }
  void merge(const Powers& other) {
    second += other.second;
    fourth += other.fourth;
    total += other.total;
  }
};

// The same, and what is needed to tell which pairs are too close.
struct Last {
  Powers powers;
  std::optional<CrosstalkSums> crosstalk;

  void add(const AnyFrames& chunk, const Vector<double>& mean, const Matrix<double>& W, const double* weights,
           bool with_crosstalk) {
    const auto* doubles = std::get_if<Frames<double>>(&chunk);
    if (doubles && W.rows() == 4 && W.cols() == 4 && !weights && !with_crosstalk) {
      add_powers_of_four(*doubles, mean, W, powers.second, powers.fourth);
      powers.total += static_cast<double>(doubles->cols());
      return;
    }
    Scratch y;
    for_each_centred_block(chunk, mean, weights, [&](Matrix<double>& block, Index frames, const double* w) {
      multiply(block, W, *y);
      powers.add(*y, frames, w);
      if (with_crosstalk) crosstalk->add(*y, frames, w);
    });
  }
  void merge(const Last& other) {
    powers.merge(other.powers);
    if (crosstalk) crosstalk->merge(*other.crosstalk);
  }
};

// Whether the outputs may be computed in float, for what is said about them: if the frames have no more
// digits than that, and whitening does not cancel them.
bool float_is_enough(const Recording& X, const Whitening& white) {
  constexpr auto rounding = static_cast<double>(std::numeric_limits<float>::epsilon());
  return X.resolution() >= rounding && !X.weights() && white.condition < 1e4 && fits_float(white.whitener);
}

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
                 Scratch room;
                 require_squares(as_doubles(chunk, *room), before);
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
  Last last{{zero, zero, 0}, {}};
  Vector<double> D;
  if (how.by) {
    last.crosstalk.emplace(how.by->weight);
    D = how.by->D;
    if (D.size() == 0) D = weighted_covariance(X, white.mean, model.unmixing, how.by->weight).diagonal();
  }
  const Index every = chunks_between(white.frames);
  const bool in_float = float_is_enough(X, white);
  const Matrix<float> W = model.unmixing.cast<float>();
  parallel_sum(X, how.progress, 2. / 3, 1, last, [&](Last& sum, const AnyFrames& chunk, std::int64_t before) {
    const bool one_of_some = sum.crosstalk && before / X.chunk_frames() % every == 0;
    if (in_float && !one_of_some) {
      sum.powers.add(chunk, model.mean, W);
    } else {
      sum.add(chunk, model.mean, model.unmixing, X.weights_from(before), one_of_some);
    }
  });
  const Powers& powers = last.powers;
  model.kurtosis = powers.fourth.array() * powers.total / powers.second.array().square();
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
