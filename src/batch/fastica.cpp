#include "demix/fastica.hpp"

#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "batch/frame.hpp"
#include "core/blocks.hpp"
#include "core/parallel_sum.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/version.hpp"

namespace demix {
namespace {

constexpr std::array<std::string_view, 4> contrast_names = {"logcosh", "exp", "cube", "skew"};

// g(y) in place of y, and sums of g'(y) over each row.
void apply_contrast(Contrast contrast, Matrix<double>& y, Vector<double>& slope) {
  switch (contrast) {
    case Contrast::logcosh:  // tanh, by the exponential that Eigen has vectorised
      y = 1 - 2 / ((2 * y.array()).exp() + 1);
      slope.array() += static_cast<double>(y.cols()) - y.rowwise().squaredNorm().array();
      break;
    case Contrast::exp: {
      const Eigen::ArrayXXd square = y.array().square();
      const Eigen::ArrayXXd bell = (-square / 2).exp();
      slope.array() += ((1 - square) * bell).rowwise().sum();
      y.array() *= bell;
      break;
    }
    case Contrast::cube:
      slope.array() += 3 * y.rowwise().squaredNorm().array();
      y = y.array().cube();
      break;
    case Contrast::skew:
      slope += 2 * y.rowwise().sum();
      y = y.array().square();
      break;
  }
}

// (W W^T)^-1/2 W
Matrix<double> orthogonal(const Matrix<double>& W) {
  return inverse_sqrt(symmetric_eigen(W * W.transpose())) * W;
}

struct Rotation {
  Matrix<double> W;
  Index iterations = 0;
  std::vector<Index> turning;  // rows that have not come to rest
};

// One step from W, over all of H.
Matrix<double> step(const Matrix<double>& W, const Matrix<double>& H, Contrast contrast) {
  Matrix<double> sum = Matrix<double>::Zero(W.rows(), W.cols());
  Vector<double> slope = Vector<double>::Zero(W.rows());
  Matrix<double> y;
  for (Index start = 0; start < H.cols(); start += block_frames) {
    const auto h = H.middleCols(start, std::min(block_frames, H.cols() - start));
    y.noalias() = W * h;
    apply_contrast(contrast, y, slope);
    sum.noalias() += y * h.transpose();
  }
  const Matrix<double> next = (sum - slope.asDiagonal() * W) / static_cast<double>(H.cols());
  return orthogonal(next);
}

Rotation find_rotation(Matrix<double> W, const Matrix<double>& H, const FastIcaOptions& options) {
  Rotation out{std::move(W), 0, {}};
  double smallest = 1;
  Index since = 0;
  for (; out.iterations < options.max_iterations; ++out.iterations) {
    Matrix<double> next = step(out.W, H, options.contrast);
    const Vector<double> cosine = (next * out.W.transpose()).diagonal();
    const Vector<double> turn = 1 - cosine.array().abs();
    // Where it goes to and fro instead of coming to rest, half steps do.
    since = turn.maxCoeff() < 0.5 * smallest ? 0 : since + 1;
    smallest = std::min(smallest, turn.maxCoeff());
    const Vector<double> sign = cosine.unaryExpr([](double c) { return c < 0 ? -1.0 : 1.0; });
    next = sign.asDiagonal() * next;
    out.W = since > 10 ? orthogonal(next + out.W) : next;
    out.turning.clear();
    for (Index i = 0; i < turn.size(); ++i) {
      if (turn(i) > options.tolerance) out.turning.push_back(i);
    }
    if (options.progress) {
      options.progress(1. / 3 + 1. / 3 * static_cast<double>(out.iterations) /
                                    static_cast<double>(options.max_iterations));
    }
    if (out.turning.empty()) break;
  }
  return out;
}

// Of a Gaussian source nothing is left to find but its subspace: any rotation of two of them is as good.
void warn_of_gaussians(Model& model) {
  const double noise = 4 * std::sqrt(24 / static_cast<double>(model.samples));
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(std::abs(model.kurtosis(i) - 3), std::abs(model.kurtosis(j) - 3)) > noise) continue;
      model.warnings.push_back(
          {Warning::Kind::close_kurtosis,
           "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1) +
               ": both as good as Gaussian; nothing tells them apart, and they may still be "
               "mixed with each other",
           {i, j}});
    }
  }
}

}  // namespace

Contrast contrast_named(std::string_view name) {
  const auto at = std::find(contrast_names.begin(), contrast_names.end(), name);
  if (at == contrast_names.end()) {
    throw std::invalid_argument("contrast: expected logcosh, exp, cube or skew, got '" + std::string(name) +
                                "'");
  }
  return static_cast<Contrast>(at - contrast_names.begin());
}

void FastIcaOptions::validate() const {
  whitening.validate();
  if (max_iterations < 1) throw std::invalid_argument("max_iterations: expected at least 1");
  if (!(tolerance > 0 && tolerance < 1)) throw std::invalid_argument("tolerance: expected between 0 and 1");
  if (values < 1) throw std::invalid_argument("values: expected at least 1");
}

Model fastica(const Recording& X, const FastIcaOptions& options) {
  options.validate();
  const Whitening white = prepare(X, options.whitening, options.progress);
  const Index d = white.components();
  const std::int64_t room = std::max<std::int64_t>(options.values / d, 10 * d * d);

  WeightedMoments weighted(white.mean, white.whitener);
  Sample sample(X.channels(), white.samples, room);
  parallel_sum(X, {}, 0, 0, weighted,
               [&](WeightedMoments& sum, const Frames<double>& chunk, std::int64_t before) {
                 sum.add(chunk);
                 sample.add(chunk, before);
               });
  const Matrix<double> U = symmetric_eigen(weighted.covariance()).vectors;
  const Matrix<double> H = white.whitener * (sample.matrix().colwise() - white.mean);

  const Rotation found = find_rotation(U.transpose(), H, options);
  Model model = finish(X, white, found.W, std::nullopt, options.progress);
  model.method = "fastica";
  model.options["contrast"] = contrast_names[static_cast<std::size_t>(options.contrast)];
  model.options["iterations"] = std::to_string(found.iterations);
  warn_of_gaussians(model);
  if (!found.turning.empty()) {
    model.warnings.push_back({Warning::Kind::not_converged,
                              std::to_string(found.turning.size()) + " of " + std::to_string(d) +
                                  " components still turn after " + std::to_string(found.iterations) +
                                  " iterations: too close to Gaussian or to each other to tell apart",
                              {}});
  }
  return model;
}

Model fastica(const Frames<double>& X, const FastIcaOptions& options) {
  return fastica(MatrixRecording<double>(X), options);
}

}  // namespace demix
