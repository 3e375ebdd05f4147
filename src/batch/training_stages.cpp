#include "batch/training_stages.hpp"

#include <algorithm>
#include <limits>

#include "batch/sample.hpp"

namespace demix {
namespace {

// Frames held in memory.
template <typename T>
class HeldRecording final : public Recording {
 public:
  HeldRecording(Sample<T> sample, double resolution)
      : sample_(std::move(sample)), view_(sample_.frames), recording_(view_), resolution_(resolution) {}
  Index channels() const override { return view_.rows(); }
  Index frames() const override { return view_.cols(); }
  double resolution() const override { return resolution_; }
  std::unique_ptr<Reading> read() const override { return recording_.read(); }
  bool random_access() const override { return true; }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override {
    return recording_.frames_at(first, count, buffer);
  }
  const Vector<double>* weights() const override {
    return sample_.weights.size() > 0 ? &sample_.weights : nullptr;
  }

 private:
  Sample<T> sample_;
  Frames<T> view_;
  MatrixRecording<T> recording_;
  double resolution_;
};

// Some frames of X, which has so many, as they are stored.
std::unique_ptr<Recording> some_of(const Recording& X, Index frames, Index enough) {
  FrameBuffer buffer;
  if (X.is_remote()) {
    if (X.resolution() >= static_cast<double>(std::numeric_limits<float>::epsilon())) {
      return std::make_unique<HeldRecording<float>>(sample_of<float>(X, frames, enough), X.resolution());
    }
  } else if (X.random_access() && std::holds_alternative<Frames<float>>(X.frames_at(0, 1, buffer))) {
    return std::make_unique<HeldRecording<float>>(sample_of<float>(X, frames, enough), X.resolution());
  }
  return std::make_unique<HeldRecording<double>>(sample_of<double>(X, frames, enough), X.resolution());
}

}  // namespace

const Recording& TrainingStages::keep(std::unique_ptr<Recording> recording) {
  own_.push_back(std::move(recording));
  return *own_.back();
}

TrainingStages::TrainingStages(const Recording& X, const Whitening& white) : condition_(white.condition) {
  constexpr Index held_values = Index{1} << 24;  // 128 MiB
  const Index d = white.components();
  const Index few = std::max<Index>(4096, 10 * d * d);
  const Recording& all = X.random_access() || X.is_remote()
                             ? X
                             : keep(some_of(X, white.frames, std::max(few, held_values / X.channels())));
  const Index frames = all.frames();
  if (const Index part = std::max(few, frames / 32); 4 * part <= frames) {
    stages_.push_back(&keep(some_of(all, frames, part)));
  }
  stages_.push_back(&all);
}

constexpr auto rounding = static_cast<double>(std::numeric_limits<float>::epsilon());

bool TrainingStages::are_floats() const { return all().resolution() >= rounding; }

bool TrainingStages::in_float(double angle) const {
  return are_floats() || 10 * rounding * condition_ < angle;
}

}  // namespace demix
