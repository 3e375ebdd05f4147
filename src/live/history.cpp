#include "live/history.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace demix::live {
namespace {

constexpr std::size_t level_count = 9;                        // bins of 1 ... 65536 frames
constexpr std::int64_t frame_floats = std::int64_t{1} << 22;  // of level 0
constexpr std::int64_t bin_floats = std::int64_t{1} << 21;    // of each other
constexpr float none = std::numeric_limits<float>::infinity();

}  // namespace

History::History(Index rows) : rows_(rows), levels_(level_count) {
  for (std::size_t k = 0; k < level_count; ++k) {
    Level& level = levels_[k];
    level.bin = std::int64_t{1} << (2 * k);
    level.bins = k == 0 ? std::clamp<std::int64_t>(frame_floats / rows, 2048, 1 << 17)
                        : std::clamp<std::int64_t>(bin_floats / (2 * rows), 2048, 1 << 14);
    level.values.resize(static_cast<std::size_t>(level.bins * rows * (k == 0 ? 1 : 2)));
  }
}

float* History::slot(Level& level, std::int64_t bin) const {
  return level.values.data() + (bin % level.bins) * rows_ * (level.bin == 1 ? 1 : 2);
}
const float* History::slot(const Level& level, std::int64_t bin) const {
  return level.values.data() + (bin % level.bins) * rows_ * (level.bin == 1 ? 1 : 2);
}

std::int64_t History::begin() const {
  const Level& last = levels_.back();
  return std::max<std::int64_t>({0, begin_, (last.open - last.bins + 1) * last.bin});
}

bool History::holds(const Level& level, std::int64_t frame) const {
  return frame / level.bin > level.open - level.bins;
}

void History::add(std::int64_t frame, const float* values) {
  if (frame < end_) return;
  if (begin_ < 0) begin_ = frame;
  Level& level = levels_[0];
  // Frames between were left out: gaps.
  for (std::int64_t f = std::max(end_, frame - level.bins); f < frame && begin_ < frame; ++f) {
    std::fill_n(slot(level, f), rows_, std::numeric_limits<float>::quiet_NaN());
  }
  std::copy_n(values, rows_, slot(level, frame));
  level.open = frame;
  end_ = frame + 1;
  merge(1, frame / 4, values, true);
}

// Into a bin, from a frame or from a bin of the level below.
void History::merge(std::size_t k, std::int64_t bin, const float* values, bool is_frame) {
  if (k == levels_.size()) return;
  Level& level = levels_[k];
  const Index rows = rows_;
  float* least = slot(level, bin);
  float* most = least + rows;
  if (bin != level.open) {
    if (level.open >= 0) merge(k + 1, level.open / 4, slot(level, level.open), false);
    const std::int64_t known = level.open >= 0 ? level.open + 1 : bin;
    for (std::int64_t b = std::max(known, bin - level.bins + 1); b <= bin; ++b) {
      float* empty = slot(level, b);
      std::fill_n(empty, rows, none);
      std::fill_n(empty + rows, rows, -none);
    }
    level.open = bin;
  }
  if (is_frame) {
    for (Index i = 0; i < rows; ++i) {  // NaN and Inf are left out
      const float v = values[i];
      const bool finite = std::abs(v) <= std::numeric_limits<float>::max();
      least[i] = finite && v < least[i] ? v : least[i];
      most[i] = finite && v > most[i] ? v : most[i];
    }
  } else {
    for (Index i = 0; i < rows; ++i) {
      least[i] = std::min(least[i], values[i]);
      most[i] = std::max(most[i], values[rows + i]);
    }
  }
  // At its end at once, so that a column that is over has all its frames.
  if ((bin + 1) * level.bin == end_) merge(k + 1, bin / 4, least, false);
}

History::Columns History::columns(std::int64_t from, std::int64_t step, Index count, Index first,
                                  Index rows) const {
  Columns out;
  out.from = from / step * step;
  out.step = step;
  out.first = first;
  out.rows = rows;
  // The coarsest level that fits into a column, or a coarser one that goes back far enough.
  std::size_t k = 0;
  while (k + 1 < levels_.size() && (levels_[k + 1].bin <= step || !holds(levels_[k], out.from))) ++k;
  const Level& level = levels_[k];
  const std::int64_t over = end_ / level.bin * level.bin;  // bins before this have all their frames
  out.count = std::clamp<std::int64_t>(over / step - out.from / step, 0, count);
  const std::int64_t end = out.from + out.count * step;
  out.each = step == 1 && k == 0 ? 1 : 2;
  const auto width = static_cast<std::size_t>(rows * out.each);
  out.values.assign(static_cast<std::size_t>(out.count) * width, std::numeric_limits<float>::quiet_NaN());
  if (begin_ < 0) return out;
  for (Index c = 0; c < out.count; ++c) {
    float* to = out.values.data() + static_cast<std::size_t>(c) * width;
    const std::int64_t begins = out.from + c * step;
    // Bins that begin in the column; of coarse ones, that in which it lies.
    std::int64_t bin = level.bin <= step ? (begins + level.bin - 1) / level.bin : begins / level.bin;
    do {
      const std::int64_t frame = bin * level.bin;
      if (holds(level, frame) && frame + level.bin > begin_ && bin <= level.open) {
        const float* in = slot(level, bin) + first;
        if (out.each == 1) {
          std::copy_n(in, rows, to);
        } else {
          const float* high = k == 0 ? in : in + rows_;
          for (Index i = 0; i < rows; ++i) {
            if (!(high[i] - in[i] >= 0)) continue;  // a gap, or no number
            float* pair = to + 2 * i;
            pair[0] = pair[0] <= in[i] ? pair[0] : in[i];
            pair[1] = pair[1] >= high[i] ? pair[1] : high[i];
          }
        }
      }
      ++bin;
    } while (bin * level.bin < std::min(begins + step, end));
  }
  return out;
}

Vector<double> History::latest(Index row, Index count) const {
  const Level& level = levels_[0];
  std::vector<double> values;
  const std::int64_t from = std::max({end_ - level.bins, end_ - count, begin_, std::int64_t{0}});
  for (std::int64_t f = from; f < end_; ++f) {
    const float v = slot(level, f)[row];
    if (std::isfinite(v)) values.push_back(v);
  }
  return Eigen::Map<const Vector<double>>(values.data(), static_cast<Index>(values.size()));
}

}  // namespace demix::live
