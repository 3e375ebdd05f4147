#include "demix/separate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "batch/closed_form.hpp"
#include "batch/entropy.hpp"
#include "batch/fobi_start.hpp"
#include "batch/sample.hpp"
#include "core/blocks.hpp"
#include "core/warnings.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/picard.hpp"

namespace demix {
namespace {

constexpr Index stretches = 32;

std::string text(const char* format, double a, double b = 0) {
  std::array<char, 128> buffer{};
  std::snprintf(buffer.data(), buffer.size(), format, a, b);
  return buffer.data();
}

// What one rotation leaves more than another, in nats per frame.
struct Difference {
  double mean = 0, error = 0;
  double deviations() const { return error > 0 ? mean / error : 0; }
};

Difference difference(const Vector<double>& more, const Vector<double>& than) {
  const Vector<double> d = more - than;
  const auto n = static_cast<double>(d.size());
  return {d.mean(), std::sqrt((d.array() - d.mean()).square().sum() / (n * (n - 1)))};
}

// P (x - mean), a column for each frame, computed in T.
template <typename T>
Matrix<float> times(const Matrix<double>& P, const AnyFrames& X, const Vector<double>& mean, Index frames) {
  Matrix<float> out(P.rows(), frames);
  const Multiplier<T> multiplier(P);
  Scratch<T> y;
  Index done = 0;
  for_each_centred_block<T>(X, mean, nullptr, [&](const Block<T>& block) {
    multiply(multiplier, block.x, *y, block.ahead);
    out.middleCols(done, block.frames()) = y->topRows(P.rows()).template cast<float>();
    done += block.frames();
  });
  return out;
}

// White frames of a sample, to compare rotations on.
class Trial {
 public:
  explicit Trial(const WhiteRecording& white) {
    const Whitening& w = white.whitening();
    // Outputs of many components tell more together: fewer frames are enough.
    const Index enough = std::clamp<Index>((Index{1} << 18) / white.components(), 1 << 13, 1 << 15);
    const Sample<double> sample = sample_of(white.recording(), w.frames, enough);
    h_ = times<double>(w.whitener, Frames<double>(sample.frames), w.mean, sample.frames.cols());
    if (sample.weights.size() == 0) return;
    Index kept = 0;  // frames that do not count are not looked at
    for (Index t = 0; t < h_.cols(); ++t) {
      if (sample.weights(t) > 0) h_.col(kept++) = h_.col(t);
    }
    h_.conservativeResize(Eigen::NoChange, kept);
  }
  // The sum over the outputs of each of them, in each stretch.
  std::vector<Vector<double>> entropies_of(const std::vector<Rotation>& candidates) const {
    const Index d = h_.rows();
    Matrix<double> W(d * std::ssize(candidates), d);
    for (Index k = 0; k < std::ssize(candidates); ++k)
      W.middleRows(k * d, d) = candidates[static_cast<std::size_t>(k)].W;
    const Matrix<double> each =
        entropies(times<float>(W, Frames<float>(h_), Vector<double>::Zero(d), h_.cols()), stretches);
    std::vector<Vector<double>> sums;
    for (Index k = 0; k < std::ssize(candidates); ++k)
      sums.emplace_back(each.middleCols(k * d, d).rowwise().sum());
    return sums;
  }

 private:
  Matrix<float> h_;
};

// FastICA's few steps where it is good; where it would take hundreds, Picard does not.
Rotation refined(const WhiteRecording& white, const Rotation& start) {
  const Rotation fast = fastica(white, {.max_iterations = 15}, start);
  return fast.convergence.converged ? fast : picard(white, {}, fast);
}

}  // namespace

Choice choose_rotation(const WhiteRecording& white) {
  constexpr Index few = 16;             // components, for which fourth moments of all frames cost little
  constexpr double significant = 1.25;  // standard errors
  // Those that are the best most often come first. One that comes later must leave significantly less.
  std::vector<Rotation> candidates;
  if (white.components() <= few) {
    FobiAndJade closed = fobi_and_jade(white);
    candidates = {refined(white, closed.fobi), std::move(closed.jade), std::move(closed.fobi)};
  } else {
    const Rotation start = fobi_of_first_stage(white);
    candidates = {refined(white, start), start};
  }
  Choice choice{candidates[0], {}};
  if (white.components() < 2) return choice;
  const Trial trial(white);
  const std::vector<Vector<double>> entropies = trial.entropies_of(candidates);

  Vector<double> least = entropies[0];
  std::string rest;
  for (std::size_t k = 1; k < candidates.size(); ++k) {
    Rotation& r = candidates[k];
    Vector<double> own = entropies[k];
    if (difference(least, own).deviations() > significant && r.method.empty()) {  // of a part of the frames
      r = fobi(white);                                                            // now of all
      own = trial.entropies_of({r})[0];
    }
    const std::string name = r.method.empty() ? "fobi" : r.method;
    const Difference more = difference(own, entropies[0]);
    rest += (rest.empty() ? "" : ", ") + name + text(" %+.4f +- %.4f", more.mean, more.error);
    if (difference(least, own).deviations() > significant) {
      least = own;
      choice.rotation = r;
    }
  }
  const Difference less = difference(entropies[0], least);
  choice.why = less.error > 0
                   ? text("leaves %.4f nats per frame less dependence than ", less.mean) +
                         candidates[0].method + text(" (standard error %.4f)", less.error)
                   : "no other leaves significantly less dependence (nats per frame: " + rest + ")";
  return choice;
}

namespace {

// Numbers of frames in a recording that lacks some -> in the one that has them all. Both ascending.
std::vector<std::int64_t> in_all(const std::vector<std::int64_t>& frames,
                                 const std::vector<std::int64_t>& left_out) {
  std::vector<std::int64_t> out;
  for (std::int64_t t : frames) {
    for (const std::int64_t gone : left_out) t += gone <= t;
    out.push_back(t);
  }
  return out;
}

std::vector<std::int64_t> glitches_of(const Model& model) {
  std::vector<std::int64_t> frames;
  for (const Warning& w : model.warnings) {
    if (w.kind == Warning::Kind::glitches) frames.insert(frames.end(), w.frames.begin(), w.frames.end());
  }
  std::sort(frames.begin(), frames.end());
  frames.erase(std::unique(frames.begin(), frames.end()), frames.end());
  return frames;
}

Separated separate_once(const Recording& X, const BatchOptions& options) {
  const WhiteRecording white = whiten(X, options.whitening);
  Choice choice = choose_rotation(white);
  return {describe(white, choice.rotation, options.order), std::move(choice.why)};
}

void warn_of_left_out(Model& model, const std::vector<std::int64_t>& frames) {
  const bool one = frames.size() == 1;
  model.warnings.push_back(
      {Warning::Kind::glitches,
       std::to_string(frames.size()) +
           (one ? " frame stands out so far that it would make a component of its own"
                : " frames stand out so far that they would make components of their own") +
           "; not learned from: " + some_of(frames),
       {},
       frames});
}

}  // namespace

Separated separate(const Recording& X, const BatchOptions& options) {
  Separated out = separate_once(X, options);
  std::vector<std::int64_t> left_out;
  constexpr int rounds = 5;
  const std::int64_t handful = out.model.samples / 20;  // of a few frames each one stands out
  for (int k = 0; k < rounds; ++k) {
    const std::vector<std::int64_t> more = in_all(glitches_of(out.model), left_out);
    if (more.empty() || std::ssize(left_out) + std::ssize(more) > handful) break;
    left_out.insert(left_out.end(), more.begin(), more.end());
    std::sort(left_out.begin(), left_out.end());
    std::vector<Segment> bad;
    for (const std::int64_t t : left_out) bad.push_back({t, t + 1});
    const RecordingWithout good(X, bad);
    out = separate_once(good, options);
  }
  if (!left_out.empty()) warn_of_left_out(out.model, left_out);
  return out;
}

Separated separate(const Frames<float>& X, const BatchOptions& options) {
  return separate(MatrixRecording<float>(X), options);
}
Separated separate(const Frames<double>& X, const BatchOptions& options) {
  return separate(MatrixRecording<double>(X), options);
}

}  // namespace demix
