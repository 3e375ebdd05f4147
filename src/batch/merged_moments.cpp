#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "batch/closed_form.hpp"
#include "batch/diagnosis.hpp"
#include "core/warnings.hpp"
#include "demix/fourth_moments.hpp"
#include "demix/part_moments.hpp"

namespace demix {
namespace {

// Of what was damaged, or forged.
std::invalid_argument no_recording() { return std::invalid_argument("sums: no recording has such moments"); }

// The amplitude of source j to fear in output i, at the least: how fobi_crosstalk() says, but what would take
// sixth moments is replaced by a bound, E[y^6] >= E[y^4]^2. JADE fails for sources that are as good as
// Gaussian.
Matrix<double> least_crosstalk(const Model& model) {
  const Vector<double>& k = model.kurtosis;
  const Index d = k.size();
  Matrix<double> out = Matrix<double>::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (i == j) continue;
      const double others = k.sum() - k(i) - k(j) - static_cast<double>(d - 2);
      const double noise = std::pow(k(j) - 3, 2) + std::max(0.0, others);
      if (nearly_gaussian(model, i) && nearly_gaussian(model, j)) {
        out(i, j) = 1;
      } else if (model.method != "jade") {
        out(i, j) =
            std::sqrt(noise / static_cast<double>(model.samples)) / std::max(1e-300, std::abs(k(i) - k(j)));
      }
    }
  }
  return out;
}

// Of the squares of the outputs, in this order.
Matrix<double> square_correlations(const FourthMoments<double>& y, const std::vector<Index>& order) {
  const Index d = std::ssize(order);
  Matrix<double> covariance(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const Index a = order[static_cast<std::size_t>(i)] + 1, b = order[static_cast<std::size_t>(j)] + 1;
      covariance(i, j) = y(a, a, b, b) / (y(0, 0, a, a) * y(0, 0, b, b)) - 1;
    }
  }
  const Vector<double> scale = covariance.diagonal().cwiseMax(1e-6).cwiseSqrt().cwiseInverse();
  Matrix<double> out = scale.asDiagonal() * covariance * scale.asDiagonal();
  out.diagonal().setZero();
  return out;
}

constexpr Index least_block = 16;  // nothing is added frame by frame

// z = [1; u] -> [1; A u + b]
Matrix<double> affine(Index channels, const Matrix<double>& A, const Vector<double>& b) {
  Matrix<double> out = Matrix<double>::Zero(channels + 1, channels + 1);
  out(0, 0) = 1;
  out.block(1, 1, A.rows(), A.cols()) = A;
  out.col(0).segment(1, b.size()) = b;
  return out;
}

}  // namespace

// As Moments::merge().
MergedMoments::MergedMoments(const std::vector<PartSummary>& parts, const WhiteningOptions& options) {
  if (parts.empty()) throw std::invalid_argument("parts: expected at least one");
  PartSummary all = parts.front();
  for (auto part = parts.begin() + 1; part != parts.end(); ++part) {
    if (part->mean.size() != all.mean.size())
      throw std::invalid_argument("merge: different number of channels");
    const double n = all.total + part->total;
    const Vector<double> delta = part->mean - all.mean;
    all.mean += part->total / n * delta;
    all.covariance = (all.total * all.covariance + part->total * part->covariance) / n +
                     (all.total / n) * (part->total / n) * delta * delta.transpose();
    all.total = n;
    all.frames += part->frames;
    all.squares += part->squares;
    all.resolution = std::max(all.resolution, part->resolution);
  }
  if (all.frames <= all.mean.size()) {
    throw std::invalid_argument("X: " + std::to_string(all.frames) + " frames of " +
                                std::to_string(all.mean.size()) +
                                " channels; more frames than channels are needed (is the data transposed?)");
  }
  whitening_ = whiten(all.mean, all.covariance, all.resolution, options);
  const double effective = all.total * (all.total / all.squares);  // as Moments::effective_count()
  whitening_.samples = std::llround(std::min(effective, static_cast<double>(all.frames)));
  whitening_.frames = all.frames;
}

void MergedMoments::add(const PartMoments& part) {
  const Whitening& w = whitening_;
  const Index n = part.channels();
  if (n != w.mean.size()) throw std::invalid_argument("merge: different number of channels");
  FourthMoments<double> moved(n, least_block);
  moved.sums() = part.sums;
  moved.transform(affine(n, w.whitener * part.B, w.whitener * (part.origin - w.mean)));
  if (sums_.empty()) sums_.assign(part.sums.size(), 0);
  for (std::size_t k = 0; k < sums_.size(); ++k) sums_[k] += moved.sums()[k];
  total_ += part.sums[0];
}

FourthMoments<double> MergedMoments::moments(const Matrix<double>& W) const {
  const Index n = whitening_.mean.size();
  FourthMoments<double> turned(n, least_block);
  for (std::size_t k = 0; k < sums_.size(); ++k) turned.sums()[k] = sums_[k] / total_;
  turned.transform(affine(n, W, Vector<double>::Zero(W.rows())));
  for (const double v : turned.sums()) {
    if (!std::isfinite(v)) throw no_recording();
  }
  return turned;
}

Matrix<double> MergedMoments::weighted_covariance() const {
  const Index d = whitening_.components();
  FourthMoments<double> all(whitening_.mean.size(), least_block);
  all.sums() = sums_;
  const Matrix<double> G =
      affine(whitening_.mean.size(), Matrix<double>::Identity(d, d), Vector<double>::Zero(d));
  Matrix<double> without_one = G;
  without_one(0, 0) = 0;
  return all.contract(without_one).block(1, 1, d, d) / total_;
}

Rotation fobi(const MergedMoments& white) { return fobi_of(white.weighted_covariance(), Weight::square); }

Rotation jade(const MergedMoments& white, const JadeOptions& options) {
  const Index d = white.whitening().components();
  FourthSums fourth(d, jade_neighbours(options, d));
  const Rotation start = fobi(white);
  const FourthMoments<double> moments = white.moments(start.W);
  fourth.set([&](Index i, Index j, Index k, Index l) { return moments(i + 1, j + 1, k + 1, l + 1); });
  return jade_of(fourth, options, start);
}

Rotation sm_ica_offline(const MergedMoments& white, const SmIcaOfflineOptions& options) {
  options.validate();
  if (options.steps != SmIcaOfflineOptions::Steps::natural || options.weight != Weight::square) {
    throw std::invalid_argument("steps, weight: sums are enough for natural steps and the square only");
  }
  SmIcaOffline run;
  return sm_ica_of(run, white.whitening(), white.weighted_covariance(), options);
}

Model describe(const MergedMoments& white, const Rotation& rotation, Order by) {
  const Whitening& w = white.whitening();
  Model model = model_of(w, rotation);
  const FourthMoments<double> y = white.moments(rotation.W);
  model.kurtosis.resize(model.components());
  for (Index i = 0; i < model.components(); ++i) {
    const double square = y(0, 0, i + 1, i + 1);
    model.kurtosis(i) = y(i + 1, i + 1, i + 1, i + 1) / (square * square);
  }
  if (!model.kurtosis.allFinite() || !model.mixing.allFinite()) throw no_recording();
  model.diagnosis.no_crosstalk = "needs the frames, as do echoes, glitches, drift and clipping";
  const std::vector<Index> order = put_in_order(model, w.dewhitener.rowwise().norm(), by);
  warn_of_basis(model, w, rotation);
  Evidence evidence;
  evidence.crosstalk = least_crosstalk(model);
  find_unresolved(model, evidence);
  find_common_squares(model, square_correlations(y, order));
  return model;
}

}  // namespace demix
