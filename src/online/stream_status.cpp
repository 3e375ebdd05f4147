#include <algorithm>
#include <cmath>
#include <limits>

#include "core/warnings.hpp"
#include "demix/crosstalk.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/version.hpp"
#include "online/contrast_crosstalk.hpp"
#include "online/output_kurtosis.hpp"
#include "online/stream_engine.hpp"

/// What a stream says about itself: its status, and the model of what it has learned.
namespace demix {
namespace {

Matrix<double> rows_of(const Matrix<double>& M, const std::vector<Index>& which) {
  Matrix<double> out(static_cast<Index>(which.size()), M.cols());
  for (Index i = 0; i < out.rows(); ++i) out.row(i) = M.row(which[static_cast<std::size_t>(i)]);
  return out;
}

// Largest over smallest of the `rank` singular values of root, its rows scaled to unit length. Nothing if
// that is beyond what double precision tells from a lower rank.
std::optional<double> condition_of(Matrix<double> root, Index rank) {
  for (Index i = 0; i < root.rows(); ++i) {
    const double deviation = root.row(i).norm();
    if (deviation > 0) root.row(i) /= deviation;
  }
  const Vector<double> singular = singular_values(root);
  const double condition = singular(0) / singular(rank - 1);
  if (!(condition < 1 / std::numeric_limits<double>::epsilon())) return std::nullopt;
  return std::max(1.0, condition);
}

}  // namespace

std::vector<Index> StreamEngine::outputs_in_use() const {
  const Matrix<double> U = unmixing();
  std::vector<Index> which;
  for (Index i = 0; i < outputs_; ++i) {
    if (U.row(i).squaredNorm() > 0) which.push_back(i);
  }
  return which;
}

// Frames, by what they still count
double StreamEngine::learned() const {
  return std::max(1.0, network_ ? static_cast<double>(network_->frames()) : learner_->count());
}

StreamCounts StreamEngine::counts() const {
  return {.frames = frames_,
          .refused = refused_,
          .outliers = outliers_,
          .rank = network_ ? network_->rank() : rank_,
          .settled = ordered_ && moved_ <= settled_share,
          .moved = moved_,
          .changes = changes_,
          .last_change = last_change_,
          .learned = learned()};
}

StreamStatus StreamEngine::status() const {
  StreamStatus s;
  s.frames = frames_;
  s.refused = refused_;
  s.outliers = outliers_;
  s.changes = changes_;
  s.last_change = last_change_;
  s.settled = ordered_ && moved_ <= settled_share;
  s.moved = moved_;
  const std::vector<Index> which = outputs_in_use();
  s.rank = static_cast<Index>(which.size());
  s.kurtosis = s.kurtosis_error = Vector<double>::Constant(s.rank, std::numeric_limits<double>::quiet_NaN());
  if (s.rank == 0 || sample().frames().cols() < 2) return s;

  const Matrix<double> U = rows_of(unmixing(), which);
  const Matrix<double> Y = U * (sample().in_order_of_time().colwise() - learned_mean());
  for (Index i = 0; i < s.rank; ++i) {
    const OutputKurtosis k = kurtosis_of(Y.row(i).transpose().array(), learned());
    s.kurtosis(i) = k.value;
    s.kurtosis_error(i) = k.error;
  }
  if (relearning_) return s;  // the outputs are not what these frames ask for
  if (!network_ && learner_->rank() == s.rank) s.condition = condition_of(learner_->channel_root(), s.rank);
  const Matrix<double> crosstalk =
      network_ ? fobi_crosstalk(Y, options_.weight, static_cast<std::int64_t>(std::llround(learned())))
               : contrast_crosstalk(Y, learned());
  s.expected_mse = expected_error(crosstalk, Y.cols());
  for (Index i = 0; i < s.rank; ++i) {
    for (Index j = i + 1; j < s.rank; ++j) {
      // The sample's difference of kurtosis may be chance where that of all frames is known to be none.
      const double chance = 3 * std::hypot(s.kurtosis_error(i), s.kurtosis_error(j));
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk ||
          (network_ && options_.weight == Weight::square &&
           std::abs(s.kurtosis(i) - s.kurtosis(j)) < chance)) {
        s.unresolved.emplace_back(which[static_cast<std::size_t>(i)], which[static_cast<std::size_t>(j)]);
      }
    }
  }
  return s;
}

std::string refused_text(const StreamStatus& s) {
  if (s.refused == 0) return "";
  return (s.refused == s.frames ? "all " : std::to_string(s.refused) + " of ") + std::to_string(s.frames) +
         " frames were refused: they hold NaN, Inf or saturated values, and nothing was learned from them";
}

Model StreamEngine::model() const {
  const StreamStatus s = status();
  if (s.rank == 0) throw std::invalid_argument("no channel has varied so far; there is nothing to separate");
  Model model;
  model.method = "stream";
  model.version = version;
  model.options = {{"learn", std::string(learn_name(options_.learn))}};
  if (options_.memory > 0) model.options["memory"] = std::to_string(std::llround(options_.memory));
  if (options_.weight != Weight::square) model.options["weight"] = weight_name(options_.weight);
  if (options_.robust) model.options["robust"] = "yes";
  if (options_.components > 0) model.options["components"] = std::to_string(options_.components);
  model.samples = std::llround(learned());
  model.mean = mean();
  const std::vector<Index> which = outputs_in_use();
  model.unmixing = rows_of(unmixing(), which);
  // Where it is not known, as before any frame has followed start(), that of a Gaussian.
  model.kurtosis = s.kurtosis.unaryExpr([](double k) { return std::isfinite(k) ? k : 3; });

  // What each output adds to the channels; where that is not known, or lost in rounding, the pseudo-inverse.
  const Matrix<double> I = Matrix<double>::Identity(s.rank, s.rank);
  if (!network_ && !relearning_) model.mixing = learner_->mixing_of(model.unmixing);
  const Matrix<double> product =
      model.mixing.size() > 0 ? Matrix<double>(model.unmixing * model.mixing) : 0 * I;
  if ((product - I).norm() < 1e-3) {
    model.mixing *= inverse(product);
  } else {
    // Channels in units of what they weigh in the outputs: they may be many orders of magnitude apart.
    const Vector<double> weight = model.unmixing.colwise().norm().transpose().cwiseMax(1e-300);
    const Vector<double> unit = weight.cwiseInverse();
    model.mixing = unit.asDiagonal() * pseudo_inverse(model.unmixing * unit.asDiagonal());
  }
  if (!model.mean.allFinite() || !model.unmixing.allFinite() || !model.mixing.allFinite() ||
      !model.kurtosis.allFinite()) {
    throw std::invalid_argument("what was learned has overflowed; there is no model of it");
  }

  if (options_.components == 0) warn_of_rank(model, s.rank);
  warn_of_few_samples(model);
  if (s.refused > 0) model.warnings.push_back({Warning::Kind::refused_frames, refused_text(s), {}});
  if (!network_ && !s.settled) {
    model.warnings.push_back({Warning::Kind::not_converged, "the outputs have not converged yet", {}});
  }
  const auto component = [&](Index output) {
    return static_cast<Index>(std::find(which.begin(), which.end(), output) - which.begin());
  };
  std::vector<std::pair<Index, Index>> pairs;
  for (const auto& [i, j] : s.unresolved) pairs.emplace_back(component(i), component(j));
  warn_of_unresolved(model, pairs);
  return model;
}

}  // namespace demix
