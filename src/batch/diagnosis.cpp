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

std::string percent(double share) {
  const auto tenths = std::lround(1000 * share);
  return std::to_string(tenths / 10) + "." + std::to_string(tenths % 10) + " %";
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

void warn_of_common(Model& model, const Worst& w, double value, const std::string& what) {
  if (w.above == 0) return;
  model.warnings.push_back(
      {Kind::dependent,
       pair_text(w.i, w.j) + others(w) + " are loud at the same times (correlation of their " + what + " " +
           rounded(value) + "): they may be parts of one source, or still mixed; judge them together",
       {w.i, w.j}});
}

// Of |y_i| and |y_j|, and 0 on the diagonal.
Matrix<double> correlation_of_magnitudes(const Matrix<float>& y) {
  Vector<double> mean = Vector<double>::Zero(y.rows());
  for (Index t = 0; t < y.cols(); ++t) mean += y.col(t).cwiseAbs().cast<double>();
  mean /= static_cast<double>(y.cols());
  Matrix<double> products = Matrix<double>::Zero(y.rows(), y.rows());
  constexpr Index some = 100 * block_frames;
  for (Index t = 0; t < y.cols(); t += some) {
    const Matrix<float> magnitude = y.middleCols(t, std::min(some, y.cols() - t)).cwiseAbs();
    for_each_centred_block<float>(Frames<float>(magnitude), mean, nullptr, [&](const Block<float>& block) {
      add_scatter(block.x, block.x, products);
    });
  }
  products = Matrix<double>(products.selfadjointView<Eigen::Lower>());
  const Vector<double> scale = products.diagonal().cwiseMax(1e-30).cwiseSqrt().cwiseInverse();
  Matrix<double> correlation = scale.asDiagonal() * products * scale.asDiagonal();
  correlation.diagonal().setZero();
  return correlation;
}

// Of so many frames each.
Matrix<float> root_mean_squares(const Matrix<float>& y, Index frames) {
  Matrix<float> out = Matrix<float>::Zero(y.rows(), y.cols() / frames);
  for (Index t = 0; t < out.cols() * frames; ++t) out.col(t / frames) += y.col(t).cwiseAbs2();
  return (out / static_cast<float>(frames)).cwiseSqrt();
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
  // Echoes and delays begin at .18 (rooms of .05 to .5 s, delays of .25 ms and more, 16 kHz).
  constexpr double echoes = 0.16;
  constexpr double beyond_chance = 1.6;
  if (e.segment_frames == 0 || e.y.cols() / e.segment_frames < least_segments) return;
  const Coherence coherence = mean_coherence(e.y, e.segment_frames, e.overlap, echoes);
  model.diagnosis.coherence = coherence.pairs;
  const Worst w = worst_pair(coherence.pairs, std::max(echoes, beyond_chance * coherence.by_chance));
  if (w.above == 0) return;
  model.diagnosis.crosstalk.reset();
  model.diagnosis.no_crosstalk = "not an instantaneous mixture of independent sources";
  model.warnings.push_back({Kind::convolved,
                            pair_text(w.i, w.j) + others(w) + " hold the same signal (coherence " +
                                rounded(w.value) +
                                " at any delay): echoes or delays between the channels, one source in "
                                "several components, or sources "
                                "that are not independent; an instantaneous separation cannot undo this",
                            {w.i, w.j}});
}

void find_common_magnitude(Model& model, const Evidence& e) {
  // Independent sounds, photographs and EEG come to .3, and to .5 over several frames.
  constexpr double common = 0.5;
  constexpr double common_over_frames = 0.7;
  constexpr Index several = 32;  // frames: a loudness that changes slowly is clearer in their power
  const Index n = e.y.cols();
  if (n < 1000) return;
  Matrix<double> correlation = correlation_of_magnitudes(e.y);
  Matrix<double> over_frames = Matrix<double>::Zero(correlation.rows(), correlation.cols());
  if (model.samples >= 200 * several)
    over_frames = correlation_of_magnitudes(root_mean_squares(e.y, several));
  model.diagnosis.magnitudes = correlation.cwiseMax(over_frames);
  correlation = (correlation / common).cwiseMax(over_frames / common_over_frames);
  const Worst w = worst_pair(correlation, 1);
  warn_of_common(model, w, w.above > 0 ? model.diagnosis.magnitudes(w.i, w.j) : 0, "magnitudes");
}

// Two Gaussian signals that are on at the same 43 % of the times have .5 between magnitudes, .22 between
// squares.
void find_common_squares(Model& model, const Matrix<double>& correlation) {
  constexpr double common = 0.22;
  const Worst w = worst_pair(correlation, common);
  warn_of_common(model, w, w.value, "squares");
}

std::vector<std::int64_t> glitch_frames(const std::vector<LargestValues::Value>& largest, double fourth,
                                        double frames_in_all) {
  constexpr std::size_t handful = 10;
  // The largest of n Laplacian values is 1 + x / log n times the next, x > 6 in one of 400 recordings.
  const double least_gap = std::max(1.5, 1 + 6 / std::log(std::max(2.0, frames_in_all)));
  std::vector<std::int64_t> frames;
  double share = 0;  // of the fourth power
  for (std::size_t k = 0; k < handful && k + 1 < largest.size(); ++k) {
    share += std::pow(largest[k].value, 4) / fourth;
    const double gap = largest[k].value / largest[k + 1].value;
    // The wider the gap to the next largest, the less they need to weigh: 17 % at 1.5, 1.3 % at 2.5.
    if (gap < least_gap || share * std::pow(gap, 5) < 1.3) continue;
    for (std::size_t m = frames.size(); m <= k; ++m) frames.push_back(largest[m].frame);
  }
  return frames;
}

void find_glitches(Model& model, const Evidence& e) {
  for (Index i = 0; i < model.components(); ++i) {
    std::vector<std::int64_t> frames = glitch_frames(e.largest[static_cast<std::size_t>(i)], e.fourth(i),
                                                     static_cast<double>(model.samples));
    if (frames.empty()) continue;
    std::sort(frames.begin(), frames.end());
    model.warnings.push_back({Kind::glitches,
                              "component " + std::to_string(i + 1) + " is mostly " +
                                  (frames.size() == 1 ? "one frame: " : "a few frames: ") + some_of(frames),
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
                                (slow.size() == 1 ? " is" : " are") + " mostly drift, slower than " +
                                std::to_string(cycles) +
                                " cycles in the recording: high-pass the channels first",
                            slow});
}

void find_clipping(Model& model, const Evidence& e) {
  constexpr double least = 1e-3;  // of the frames
  constexpr double most = 0.2;    // above, it is how the signal is: a square wave
  std::vector<Index> clipped;
  double largest = 0;
  for (std::size_t c = 0; c < e.ends.highest.size(); ++c) {
    const auto flat = static_cast<double>(e.ends.highest[c].pairs + e.ends.lowest[c].pairs);
    const double share = flat / static_cast<double>(e.ends.frames);
    if (share < least || share > most) continue;
    clipped.push_back(static_cast<Index>(c));
    largest = std::max(largest, share);
  }
  if (clipped.empty()) return;
  model.warnings.push_back({Kind::clipped,
                            (clipped.size() == 1 ? "channel " : "channels ") + list_of(clipped) +
                                (clipped.size() == 1 ? " is" : " are") +
                                " clipped: flat at the largest or least value in " +
                                (clipped.size() == 1 ? "" : "up to ") + percent(largest) +
                                " of the frames, where the sources cannot be told; record with less gain",
                            {}});
}

}  // namespace demix
