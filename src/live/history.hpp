#pragma once

#include <cstdint>
#include <vector>

#include "demix/types.hpp"

namespace demix::live {

/// The last frames, and envelopes of those before: level k has the least and the most of every 4^k frames, so
/// that nothing between two pixels is hidden. A bin that no frame came for is a gap.
class History {
 public:
  explicit History(Index rows);

  Index rows() const { return rows_; }
  std::int64_t end() const { return end_; }  ///< the frame after the last
  std::int64_t begin() const;                ///< the first frame of which something is known
  void add(std::int64_t frame, const float* values);

  /// Columns of `step` frames each, from frame `from` on (a multiple of step), for rows first ... first +
  /// rows.
  struct Columns {
    std::int64_t from = 0;
    std::int64_t step = 1;
    Index count = 0;
    Index first = 0;
    Index rows = 0;
    Index each = 1;  ///< values: the frame, or 2: least and most, if step > 1 or frames are no longer kept
    /// Column by column, row by row; NaN in a gap.
    std::vector<float> values;
  };
  /// At most what is asked for, and only whole columns.
  Columns columns(std::int64_t from, std::int64_t step, Index count, Index first, Index rows) const;

  /// The last frames of a row, at most so many; gaps are left out.
  Vector<double> latest(Index row, Index count) const;

 private:
  struct Level {
    std::int64_t bin = 1;    // frames
    std::int64_t bins = 0;   // kept
    std::int64_t open = -1;  // number of the bin that is being filled
    std::vector<float> values;
  };
  float* slot(Level& level, std::int64_t bin) const;
  const float* slot(const Level& level, std::int64_t bin) const;
  void merge(std::size_t level, std::int64_t bin, const float* values, bool is_frame);
  bool holds(const Level& level, std::int64_t frame) const;

  Index rows_;
  std::int64_t begin_ = -1;
  std::int64_t end_ = 0;
  std::vector<Level> levels_;
};

}  // namespace demix::live
