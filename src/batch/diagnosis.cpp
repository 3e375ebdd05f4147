#include "batch/diagnosis.hpp"

#include <algorithm>
#include <cmath>

#include "batch/coherence.hpp"
#include "core/blocks.hpp"
#include "core/warnings.hpp"
#include "demix/crosstalk.hpp"

namespace demix {
namespace {

using Kind = Warning::Kind;

std::string rounded(double value) {  // two digits behind the point
  const auto hundredths = std::lround(100 * value);
  return std::to_string(hundredths / 100) + "." + (hundredths % 100 < 10 ? "0" : "") +
         std::to_string(hundredths % 100);
}

std::string pair_text(Index i, Index j) {
  return "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1);
}

// (i, j) of the largest entry, and how many pairs are above `least`.
struct Worst {
  Index i = 0, j = 0;
  double value = 0;
  Index above = 0;
};
Worst worst_pair(const Matrix<double>& m, double least) {
  Worst w;
  for (Index j = 0; j < m.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      if (m(i, j) > least) ++w.above;
      if (m(i, j) > w.value) w = {i, j, m(i, j), w.above};
    }
  }
  return w;
}

std::string others(const Worst& w) {
  if (w.above < 2) return "";
  return " (and " + std::to_string(w.above - 1) + " other pair" + (w.above == 2 ? "" : "s") + ")";
}

void warn_of_common(Model& model, const Worst& w, const std::string& what) {
  if (w.above == 0) return;
  model.warnings.push_back(
      {Kind::dependent,
       pair_text(w.i, w.j) + others(w) + " are loud at the same times (correlation of their " + what + " " +
           rounded(w.value) + "): they are not independent, and may be parts of one source or still mixed",
       {w.i, w.j}});
}

}  // namespace

void find_unresolved(Model& model, const Evidence& e) {
  std::vector<std::pair<Index, Index>> pairs;
  for (Index j = 0; j < e.crosstalk.cols(); ++j) {
    for (Index i = 0; i < j; ++i) {
      // What tells two apart that are as good as Gaussian may be chance.
      const double most = nearly_gaussian(model, i) && nearly_gaussian(model, j) ? 0.5 * trusted_crosstalk
                                                                                 : trusted_crosstalk;
      if (std::max(e.crosstalk(i, j), e.crosstalk(j, i)) > most) pairs.emplace_back(i, j);
    }
  }
  warn_of_unresolved(model, pairs);
}

void find_coherence(Model& model, const Evidence& e) {
  constexpr Index least_segments = 8;
  // Echoes and delays begin at .17 (rooms of .05 to .5 s, delays of .25 ms and more, 16 kHz).
  constexpr double echoes = 0.17;
  constexpr double beyond_chance = 1.6;
  if (e.segment_frames == 0 || e.y.cols() / e.segment_frames < least_segments) return;
  const Coherence coherence = mean_coherence(e.y, e.segment_frames, e.overlap, echoes);
  model.diagnosis.coherence = coherence.pairs;
  const Worst w = worst_pair(coherence.pairs, std::max(echoes, beyond_chance * coherence.by_chance));
  if (w.above == 0) return;
  model.diagnosis.crosstalk.reset();
  model.diagnosis.no_crosstalk = "not an instantaneous mixture of independent sources";
  model.warnings.push_back(
      {Kind::convolved,
       pair_text(w.i, w.j) + others(w) + " hold the same signal at different delays (coherence " +
           rounded(w.value) +
           "): echoes or delays between the channels, or one source that spreads over several components. An "
           "instantaneous separation cannot undo this",
       {w.i, w.j}});
}

void find_common_magnitude(Model& model, const Evidence& e) {
  constexpr double common = 0.5;
  const Index n = e.y.cols();
  if (n < 1000) return;
  const Vector<double> mean = e.y.cwiseAbs().rowwise().mean().cast<double>();
  Matrix<double> products = Matrix<double>::Zero(e.y.rows(), e.y.rows());
  constexpr Index some = 100 * block_frames;
  for (Index t = 0; t < n; t += some) {
    const Matrix<float> magnitude = e.y.middleCols(t, std::min(some, n - t)).cwiseAbs();
    for_each_centred_block<float>(Frames<float>(magnitude), mean, nullptr, [&](const Block<float>& block) {
      add_scatter(block.x, block.x, products);
    });
  }
  products = Matrix<double>(products.selfadjointView<Eigen::Lower>());
  const Vector<double> scale = products.diagonal().cwiseMax(1e-30).cwiseSqrt().cwiseInverse();
  Matrix<double> correlation = scale.asDiagonal() * products * scale.asDiagonal();
  correlation.diagonal().setZero();
  model.diagnosis.magnitudes = correlation;
  warn_of_common(model, worst_pair(correlation, common), "magnitudes");
}

// Two Gaussian signals that are on at the same 43 % of the times have .5 between magnitudes, .22 between
// squares.
void find_common_squares(Model& model, const Matrix<double>& correlation) {
  constexpr double common = 0.22;
  warn_of_common(model, worst_pair(correlation, common), "squares");
}

std::vector<std::int64_t> glitch_frames(const std::vector<LargestValues::Value>& largest, double fourth) {
  constexpr std::size_t handful = 10;
  std::vector<std::int64_t> frames;
  double share = 0;  // of the fourth power
  for (std::size_t k = 0; k < handful && k + 1 < largest.size(); ++k) {
    share += std::pow(largest[k].value, 4) / fourth;
    const double gap = largest[k].value / largest[k + 1].value;
    // The wider the gap to the next largest, the less they need to weigh: 17 % at 1.5, 1.3 % at 2.5.
    if (gap < 1.5 || share * std::pow(gap, 5) < 1.3) continue;
    for (std::size_t m = frames.size(); m <= k; ++m) frames.push_back(largest[m].frame);
  }
  return frames;
}

void find_glitches(Model& model, const Evidence& e) {
  for (Index i = 0; i < model.components(); ++i) {
    std::vector<std::int64_t> frames = glitch_frames(e.largest[static_cast<std::size_t>(i)], e.fourth(i));
    if (frames.empty()) continue;
    std::sort(frames.begin(), frames.end());
    std::string list;
    for (const std::int64_t t : frames) list += (list.empty() ? "" : ", ") + std::to_string(t + 1);
    model.warnings.push_back({Kind::glitches,
                              "component " + std::to_string(i + 1) + " is mostly " +
                                  (frames.size() == 1 ? "one frame: " : "a few frames: ") + list,
                              {i},
                              std::move(frames)});
  }
}

void find_drift(Model& model, const Evidence& e) {
  constexpr double most = 0.5;
  constexpr std::size_t cycles = 4;  // two stretches hold one
  if (e.means.size() < 2 * cycles) return;
  const std::size_t at_a_time = e.means.size() / (2 * cycles);
  Vector<double> power = Vector<double>::Zero(model.components());
  for (std::size_t k = 0; k + at_a_time <= e.means.size(); k += at_a_time) {
    Vector<double> mean = Vector<double>::Zero(power.size());
    for (std::size_t m = k; m < k + at_a_time; ++m) mean += e.means[m] / static_cast<double>(at_a_time);
    power += mean.cwiseAbs2() / static_cast<double>(2 * cycles);
  }
  std::vector<Index> slow;
  for (Index i = 0; i < power.size(); ++i) {
    if (power(i) > most) slow.push_back(i);
  }
  if (slow.empty()) return;
  model.warnings.push_back({Kind::drift,
                            (slow.size() == 1 ? "component " : "components ") + list_of(slow) +
                                (slow.size() == 1 ? " is" : " are") +
                                " mostly drift, slower than the recording holds " + std::to_string(cycles) +
                                " cycles of: high-pass the channels first",
                            slow});
}

void find_clipping(Model& model, const Evidence& e) {
  constexpr double least = 1e-3;  // of the frames
  constexpr double most = 0.2;    // above, it is how the signal is: a square wave
  std::vector<Index> clipped;
  for (std::size_t c = 0; c < e.ends.highest.size(); ++c) {
    const auto flat = static_cast<double>(e.ends.highest[c].pairs + e.ends.lowest[c].pairs);
    const double share = flat / static_cast<double>(e.ends.frames);
    if (share >= least && share <= most) clipped.push_back(static_cast<Index>(c));
  }
  if (clipped.empty()) return;
  model.warnings.push_back({Kind::clipped,
                            (clipped.size() == 1 ? "channel " : "channels ") + list_of(clipped) +
                                (clipped.size() == 1 ? " is" : " are") +
                                " clipped: flat at the largest or least value",
                            {}});
}

}  // namespace demix
