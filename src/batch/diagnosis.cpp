#include "batch/diagnosis.hpp"

#include <algorithm>
#include <cmath>

#include "batch/coherence.hpp"
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

}  // namespace

void warn_of_unresolved(Model& model) {
  if (!model.diagnosis.crosstalk) return;
  const Matrix<double>& pairs = model.diagnosis.crosstalk->pairs;
  const auto gaussian = [&](Index i) {
    return std::abs(model.kurtosis(i) - 3) <= 4 * std::sqrt(24 / static_cast<double>(model.samples));
  };
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(pairs(i, j), pairs(j, i)) <= trusted_crosstalk) continue;
      const std::string why =
          gaussian(i) && gaussian(j)
              ? ": both as good as Gaussian; nothing tells them apart"
              : ": too alike to tell apart with " + std::to_string(model.samples) + " frames";
      model.warnings.push_back({Kind::close_kurtosis,
                                pair_text(i, j) + why + "; they may still be mixed with each other",
                                {i, j}});
    }
  }
}

void find_coherence(Model& model, const Evidence& e) {
  constexpr Index least_segments = 8;
  // Instantaneous mixtures of voices stay below .03, of photographs below .11, EEG below .15; echoes and
  // delays begin at .17 (rooms of .05 to .5 s, delays of .25 ms and more, 16 kHz).
  constexpr double echoes = 0.17;
  if (e.segment_frames == 0 || e.y.cols() / e.segment_frames < least_segments) return;
  model.diagnosis.coherence = mean_coherence(e.y, e.segment_frames, e.overlap);
  const Worst w = worst_pair(model.diagnosis.coherence, echoes);
  if (w.above == 0) return;
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
  Matrix<float> magnitude = e.y.cwiseAbs();
  magnitude.colwise() -= magnitude.rowwise().mean().eval();
  const Matrix<double> products = (magnitude * magnitude.transpose()).cast<double>();
  const Vector<double> scale = products.diagonal().cwiseMax(1e-30).cwiseSqrt().cwiseInverse();
  Matrix<double> correlation = scale.asDiagonal() * products * scale.asDiagonal();
  correlation.diagonal().setZero();
  model.diagnosis.magnitudes = correlation;
  const Worst w = worst_pair(correlation, common);
  if (w.above == 0) return;
  model.warnings.push_back(
      {Kind::dependent,
       pair_text(w.i, w.j) + others(w) + " are loud at the same times (correlation of their magnitudes " +
           rounded(w.value) + "): they are not independent, and may be parts of one source or still mixed",
       {w.i, w.j}});
}

std::vector<std::int64_t> glitch_frames(const std::vector<OutputSums::Large>& largest, double fourth) {
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
  std::string list;
  std::vector<Index> slow;
  for (Index i = 0; i < power.size(); ++i) {
    if (power(i) <= most) continue;
    slow.push_back(i);
    list += (list.empty() ? "" : ", ") + std::to_string(i + 1);
  }
  if (slow.empty()) return;
  model.warnings.push_back({Kind::drift,
                            (slow.size() == 1 ? "component " : "components ") + list +
                                (slow.size() == 1 ? " is" : " are") +
                                " mostly drift, slower than the recording holds " + std::to_string(cycles) +
                                " cycles of: high-pass the channels first",
                            slow});
}

void find_clipping(Model& model, const Evidence& e) {
  if (e.x.cols() == 0) return;
  constexpr double least = 1e-3;  // of the frames
  constexpr double most = 0.2;    // above, it is how the signal is: a square wave
  std::string list;
  for (Index c = 0; c < e.x.rows(); ++c) {
    const auto x = e.x.row(c);
    for (const double end : {x.maxCoeff(), x.minCoeff()}) {
      Index flat = 0;
      for (Index t = 1; t < x.size(); ++t) flat += x(t) == end && x(t - 1) == end;
      const double share = static_cast<double>(flat) / static_cast<double>(x.size());
      if (share < least || share > most) continue;
      list += " " + std::to_string(c + 1);
      break;
    }
  }
  if (list.empty()) return;
  model.warnings.push_back(
      {Kind::clipped, "clipped (flat at its largest or least value): channel" + list, {}});
}

}  // namespace demix
