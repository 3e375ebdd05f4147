#include "batch/frame.hpp"

#include <algorithm>
#include <stdexcept>

#include "core/blocks.hpp"
#include "core/warnings.hpp"
#include "demix/crosstalk.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/version.hpp"

namespace demix {
namespace {

template <typename T>
Vector<double> output_kurtosis(const Model& model, const Frames<T>& X, const ProgressCallback& progress) {
  Vector<double> second = Vector<double>::Zero(model.components());
  Vector<double> fourth = second;
  Matrix<double> y;
  const auto add = [&](Matrix<double>& block) {
    block.colwise() -= model.mean;
    y.noalias() = model.unmixing * block;
    y = y.array().square();
    second += y.rowwise().sum();
    fourth += y.rowwise().squaredNorm();
  };
  for_each_chunk<T>(X, progress, 2. / 3, 1, [&](const Frames<T>& chunk) { for_each_block<T>(chunk, add); });
  const auto n = static_cast<double>(X.cols());
  return fourth.array() * n / second.array().square();
}

// Outputs of frames spread evenly over the recording: enough to estimate crosstalk, few enough to cost
// nothing.
template <typename T>
Matrix<double> sample_outputs(const Model& model, const Frames<T>& X) {
  constexpr Index enough = 1 << 16;
  const Index stride = std::max<Index>(1, X.cols() / enough);
  Matrix<double> Y((model.components()), (X.cols() + stride - 1) / stride);
  for (Index k = 0; k < Y.cols(); ++k) {
    Y.col(k).noalias() = model.unmixing * (X.col(k * stride).template cast<double>() - model.mean);
  }
  return Y;
}

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

void warn_of_crosstalk(Model& model, const Matrix<double>& crosstalk) {
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk) warn_of_close_kurtosis(model, i, j);
    }
  }
}

}  // namespace

template <typename T>
Whitening prepare(const Frames<T>& X, const WhiteningOptions& options, const ProgressCallback& progress) {
  options.validate();
  if (X.rows() == 0) throw std::invalid_argument("X: no channels");
  if (X.cols() <= X.rows()) {
    throw std::invalid_argument("X: " + std::to_string(X.cols()) + " frames of " + std::to_string(X.rows()) +
                                " channels; more frames than channels are needed (is the data transposed?)");
  }
  require_finite(X);
  for (Index i = 0; i < X.rows(); ++i) {  // squares must neither overflow nor vanish
    const auto largest = static_cast<double>(X.row(i).cwiseAbs().maxCoeff());
    if (largest > 1e150 || (largest > 0 && largest < 1e-150)) {
      const char* size = largest > 1 ? "large" : "small";
      throw std::invalid_argument("X: the values of channel " + std::to_string(i + 1) + " are too " + size +
                                  " to square; rescale it");
    }
  }
  Moments moments(X.rows());
  for_each_chunk<T>(X, progress, 0, 1. / 3, [&](const Frames<T>& chunk) { moments.add(chunk); });
  return whiten(moments, options);
}

template <typename T>
Model finish(const Frames<T>& X, const Whitening& white, const Matrix<double>& Q,
             std::optional<Weight> weight, const ProgressCallback& progress) {
  Model model;
  model.version = version;
  model.samples = X.cols();
  model.mean = white.mean;
  model.unmixing = Q * white.whitener;
  model.mixing = white.dewhitener * Q.transpose() * inverse(Q * Q.transpose());
  model.kurtosis = output_kurtosis<T>(model, X, progress);
  put_in_order(model, white.dewhitener.rowwise().norm());
  warn_of_rank(model, white.rank, missing_rank(white, model.channels()));
  warn_of_few_samples(model);
  if (weight) warn_of_crosstalk(model, fobi_crosstalk(sample_outputs<T>(model, X), *weight, X.cols()));
  return model;
}

template Whitening prepare<float>(const Frames<float>&, const WhiteningOptions&, const ProgressCallback&);
template Whitening prepare<double>(const Frames<double>&, const WhiteningOptions&, const ProgressCallback&);
template Model finish<float>(const Frames<float>&, const Whitening&, const Matrix<double>&,
                             std::optional<Weight>, const ProgressCallback&);
template Model finish<double>(const Frames<double>&, const Whitening&, const Matrix<double>&,
                              std::optional<Weight>, const ProgressCallback&);

}  // namespace demix
