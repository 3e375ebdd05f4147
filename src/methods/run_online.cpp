#include "methods/run_online.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>

#include "batch/sample.hpp"
#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "methods/model_options.hpp"

namespace demix {
namespace {

// What the separator sees of the recording, and how many outputs it has.
struct Feed {
  WhiteRecording recording;
  const Whitening& white() const { return recording.whitening(); }
  bool whitened;
  Vector<double> shift;  // subtracted first
  Index inputs, outputs;

  Matrix<double> stage() const {
    if (whitened) return white().whitener;
    return Matrix<double>::Identity(inputs, inputs);
  }
};

// Within what so many frames can tell.
bool is_white(const Whitening& white, std::int64_t frames) {
  const Matrix<double> C = white.dewhitener * white.dewhitener.transpose();
  const auto d = static_cast<double>(C.rows());
  const double off = (C - Matrix<double>::Identity(C.rows(), C.rows())).norm();
  return white.rank == C.rows() && off < 0.05 + 3 * d / std::sqrt(static_cast<double>(frames));
}

std::string condition(const Whitening& white) {
  const Vector<double> s = singular_values(white.dewhitener);
  const double ratio = s(0) / s(s.size() - 1);
  return std::to_string(std::lround(10 * ratio) / 10) + "." + std::to_string(std::lround(10 * ratio) % 10);
}

Feed prepare_feed(const Method& method, const Recording& X, const MethodOptions& o) {
  const std::string name(method.name);
  WhiteningOptions reduction;
  if (o.whiten.value_or(false)) reduction.components = o.components;
  if (o.whiten.value_or(false)) reduction.share = o.share;
  const Index channels = X.channels();
  Feed feed{whiten(X, reduction), o.whiten.value_or(false), Vector<double>::Zero(channels), channels, 0};
  if (method.input == Input::white && !o.whiten && !is_white(feed.white(), feed.white().samples)) {
    throw NeedsWhitening(name + " needs white input, and this is not (its condition number is " +
                         condition(feed.white()) + "); have it whitened first, or try it as it is");
  }
  if (method.input != Input::any) feed.shift = feed.white().mean;
  if (feed.whitened) feed.inputs = feed.white().whitener.rows();
  const Index rank = std::min(feed.white().rank, feed.inputs);
  feed.outputs = o.components > 0 ? std::min(o.components, rank) : rank;
  if (method.square && feed.outputs < feed.inputs) {
    throw NeedsWhitening(name + " has as many outputs as inputs; to get " + std::to_string(feed.outputs) +
                         " components out of " + std::to_string(feed.inputs) +
                         " channels have them whitened first, which reduces them");
  }
  return feed;
}

// Feeds the frames of X to learn(t, frame t) in the order and as often as asked, until it says false. Returns
// the count. Only to shuffle them are they held in memory.
std::int64_t feed_frames(const Recording& X, std::int64_t frames, const MethodOptions& o,
                         const std::function<bool(Index, const Frames<double>&)>& learn) {
  const double total = static_cast<double>(frames) * static_cast<double>(o.passes);
  std::int64_t seen = 0;
  bool failed = false;
  const auto feed = [&](Index t, const Frames<double>& frame) {
    if (failed) return;
    ++seen;
    failed = !learn(t, frame);
    if (o.progress && seen % 65536 == 0) o.progress(static_cast<double>(seen) / total);
  };
  if (!o.shuffle) {
    for (Index p = 0; p < o.passes && !failed; ++p) {
      Index t = 0;
      X.pass([&](const Frames<double>& block) {
        for (Index k = 0; k < block.cols(); ++k) feed(t++, block.col(k));
      });
    }
    return seen;
  }
  const Matrix<double> all = gather(X);
  Random random(o.seed + 1);
  std::vector<Index> order(static_cast<std::size_t>(all.cols()));
  std::iota(order.begin(), order.end(), Index{0});
  for (Index p = 0; p < o.passes && !failed; ++p) {
    for (std::size_t i = order.size() - 1; i > 0; --i) {
      std::swap(order[i], order[static_cast<std::size_t>(random.below(static_cast<Index>(i) + 1))]);
    }
    for (const Index t : order) feed(t, all.col(t));
  }
  return seen;
}

void warn_not_converged(Model& model, const std::string& text, std::vector<Index> components = {}) {
  model.warnings.push_back({Warning::Kind::not_converged, text, std::move(components)});
}

// Where FOBI's optimum is known in closed form, a network that is elsewhere can be told from one that is
// done.
void warn_if_elsewhere(Model& model, const WhiteRecording& white, const Matrix<double>& Q, Weight weight) {
  const Matrix<double> U = fobi(white, {.weight = weight}).W.transpose();
  const Matrix<double> share = (Q * U).rowwise().normalized().array().square();  // of optimum j in output i
  const double missed = 1 - share.rowwise().maxCoeff().minCoeff();
  if (missed <= 0.05) return;
  warn_not_converged(model, "the network has not settled where the closed form does (an output differs by " +
                                std::to_string(static_cast<int>(std::lround(100 * missed))) +
                                " % of its power); frames in time order? Shuffle them, take more passes, or "
                                "use fobi");
}

// Outputs i and j that are a small turn theta away from independent ones have the cross-cumulants
// cum(y_i^3, y_j) = -theta kappa_i and cum(y_i, y_j^3) = theta kappa_j, kappa being the excess kurtoses.
void warn_if_still_mixed(Model& model, const Recording& X) {
  Matrix<double> Y = model.apply(sample_of(X, model.samples).frames);
  const auto n = static_cast<double>(Y.cols());
  for (Index i = 0; i < Y.rows(); ++i) Y.row(i) *= std::sqrt(n) / Y.row(i).norm();
  const Matrix<double> third = (Y.array().cube().matrix() * Y.transpose()) / n;  // E[y_i^3 y_j]
  const Matrix<double> second = (Y * Y.transpose()) / n;
  const Matrix<double> squares = Y.array().square();
  const Matrix<double> fourth = (squares * squares.transpose()) / n;  // E[y_i^2 y_j^2]
  const double noise = 4 * std::sqrt(15 / n);  // of cross-cumulants: four deviations, E[y^6] = 15 or so
  for (Index i = 0; i < Y.rows(); ++i) {
    for (Index j = i + 1; j < Y.rows(); ++j) {
      const double ki = third(i, i) - 3;
      const double kj = third(j, j) - 3;
      const double iiij = third(i, j) - 3 * second(i, j);
      const double ijjj = third(j, i) - 3 * second(i, j);
      const double weight = std::hypot(ki, kj);
      const double turn = weight > 0 ? std::abs(-ki * iiij + kj * ijjj) / weight : 0;  // theta weight
      const double theta = turn > noise ? turn / weight : 0;
      // Halfway between two sources of one kind, theta is 0 too, but then cum(y_i^2, y_j^2) is largest.
      const double iijj = fourth(i, j) - 1 - 2 * second(i, j) * second(i, j);
      const bool halfway = std::abs(iijj) > 0.1 * (std::abs(ki) + std::abs(kj)) &&
                           std::abs(iijj) > 4 * std::sqrt(third(i, i) * third(j, j) / n);
      const double mixed = std::max({theta, std::abs(second(i, j)), halfway ? 0.7 : 0});
      if (mixed < 0.15) continue;
      warn_not_converged(model,
                         "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1) +
                             " still hold about " + std::to_string(std::lround(100 * std::min(1.0, mixed))) +
                             " % of each other; try more passes, a random order, another form or eta",
                         {i, j});
    }
  }
}

// Outputs that are in use.
Matrix<double> without_zero_rows(const Matrix<double>& B) {
  Matrix<double> used(B.rows(), B.cols());
  Index rows = 0;
  for (Index i = 0; i < B.rows(); ++i) {
    if (B.row(i).cwiseAbs().maxCoeff() > 0) used.row(rows++) = B.row(i);
  }
  return used.topRows(rows);
}

}  // namespace

Outcome run_online(const Method& method, const Recording& X, const MethodOptions& o) {
  const std::string name(method.name);
  const Feed feed = prepare_feed(method, X, o);
  const Matrix<double> stage = feed.stage();
  const std::unique_ptr<OnlineSeparator> separator = method.start(feed.inputs, feed.outputs, o);

  Outcome out;
  if (o.online_output) out.online_output = Matrix<double>::Zero(feed.outputs, feed.white().samples);
  Vector<double> frame(X.channels());
  Vector<double> x(feed.inputs);
  Vector<double> y(feed.outputs);
  const std::int64_t seen = feed_frames(X, feed.white().samples, o, [&](Index t, const Frames<double>& raw) {
    frame = raw - feed.shift;
    if (feed.whitened) {
      x.noalias() = stage * frame;
    } else {
      x = frame;
    }
    if (!separator->step(x, y)) return false;
    if (o.online_output) out.online_output.col(t) = y;
    if (o.trace != nullptr) separator->note(*o.trace);
    return true;
  });
  const auto fail = [&](const std::string& why) { return Diverged(name + " " + why); };
  if (!separator->failure().empty()) {
    throw fail("diverged at frame " + std::to_string(seen) + ": " + separator->failure() +
               "; try a smaller eta" +
               (o.form == "published" ? ", or its natural form, whose steps cannot diverge"
                : feed.whitened       ? ""
                                      : ", or whitened input"));
  }
  separator->finish();
  if (!separator->failure().empty()) throw fail("found nothing: " + separator->failure());

  const Matrix<double> Q = without_zero_rows(separator->unmixing() * stage) * feed.white().dewhitener;
  const Vector<double> s = Q.rows() > 0 ? singular_values(Q) : Vector<double>();
  if (s.size() == 0 || s(s.size() - 1) < 1e-4 * s(0)) {
    throw fail(
        "has come to outputs that depend on each other: several respond to the same feature, and "
        "there is no model of that");
  }
  const Weight weight = o.weight.value_or(Weight::square);
  std::optional<EstimatingEquation> equation;
  if (method.by_kurtosis) equation = EstimatingEquation{EstimatingEquation::Kind::weighted, {}, weight};
  if (method.contrast)
    equation = EstimatingEquation{EstimatingEquation::Kind::contrast, *method.contrast, {}};
  out.model = describe(feed.recording, {.W = Q, .equation = equation});
  out.model.method = method.name;
  out.model.options = {{"passes", std::to_string(o.passes)},
                       {"shuffle", o.shuffle ? "yes" : "no"},
                       {"seed", std::to_string(o.seed)}};
  record_options(out.model, o);
  if (method.by_kurtosis && Q.rows() == Q.cols()) warn_if_elsewhere(out.model, feed.recording, Q, weight);
  if (!method.by_kurtosis && method.finds == Finds::sources) warn_if_still_mixed(out.model, X);
  return out;
}

}  // namespace demix
