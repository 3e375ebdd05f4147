#pragma once

#include <memory>
#include <vector>

#include "demix/recording.hpp"
#include "demix/whitening.hpp"

/// What methods that go over the data again and again learn from.
namespace demix {

/// A recording and, if it is long, a part of it, frames spread evenly over all of it: what the part can teach
/// is learned there first, for a part of the work.
class TrainingStages {
 public:
  TrainingStages(const Recording& X, const Whitening& white);
  TrainingStages(const TrainingStages&) = delete;
  TrainingStages& operator=(const TrainingStages&) = delete;

  /// The part, if there is one, and then all there is to learn from: the recording, or, of a large file that
  /// would have to be decoded each time, as many of its frames as may be held in memory.
  const std::vector<const Recording*>& stages() const { return stages_; }
  const Recording& first() const { return *stages_.front(); }
  const Recording& all() const { return *stages_.back(); }

  bool are_floats() const;  ///< so that sums in float lose nothing that they have
  /// Whether sums in float are good for so small an angle (rad): if they are floats, or the channels far
  /// enough from dependent.
  bool in_float(double angle) const;

 private:
  const Recording& keep(std::unique_ptr<Recording> recording);

  double condition_;  // of the channels
  std::vector<std::unique_ptr<Recording>> own_;
  std::vector<const Recording*> stages_;
};

}  // namespace demix
