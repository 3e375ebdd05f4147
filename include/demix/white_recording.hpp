#pragma once

#include <memory>

#include "demix/recording.hpp"
#include "demix/whitening.hpp"

/// Where every separation of a whole recording begins.
namespace demix {

class TrainingStages;

/// A recording x and its whitening, h = P (x - mean), E[h h^T] = I. No white frames are held: sums over h are
/// made from x. Batch methods find a rotation of h. The recording must live as long.
class WhiteRecording {
 public:
  const Recording& recording() const { return *recording_; }
  const Whitening& whitening() const { return whitening_; }
  Index components() const { return whitening_.components(); }

  /// What methods that take many steps learn from (batch/training_stages.hpp); made when first asked for.
  const TrainingStages& stages() const;

 private:
  friend WhiteRecording whiten(const Recording& X, const WhiteningOptions& options);
  WhiteRecording(const Recording& recording, Whitening whitening)
      : recording_(&recording), whitening_(std::move(whitening)) {}

  const Recording* recording_;
  Whitening whitening_;
  mutable std::shared_ptr<const TrainingStages> stages_;
};

/// One pass. Throws std::invalid_argument for data that nothing can separate: fewer than two channels, not
/// more frames than channels, NaN or Inf, values too large or too small to square, every channel constant.
WhiteRecording whiten(const Recording& X, const WhiteningOptions& options = {});
WhiteRecording whiten(const Recording&& X, const WhiteningOptions& options = {}) = delete;  // it would dangle

}  // namespace demix
