#include "batch/learning_data.hpp"

#include <algorithm>

#include "batch/frame.hpp"
#include "core/parallel_sum.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

// Frames held in memory.
class HeldRecording final : public Recording {
 public:
  HeldRecording(Sample sample, double resolution)
      : sample_(std::move(sample)), view_(sample_.frames()), recording_(view_), resolution_(resolution) {}
  Index channels() const override { return view_.rows(); }
  Index frames() const override { return view_.cols(); }
  double resolution() const override { return resolution_; }
  std::unique_ptr<Reading> read() const override { return recording_.read(); }
  bool anywhere() const override { return true; }
  Frames<double> frames_at(Index first, Index count, Matrix<double>& room) const override {
    return recording_.frames_at(first, count, room);
  }
  const Vector<double>* weights() const override {
    return sample_.weights().size() > 0 ? &sample_.weights() : nullptr;
  }

 private:
  Sample sample_;
  Frames<double> view_;
  MatrixRecording<double> recording_;
  double resolution_;
};

// Every k-th frame of a recording that can be read from anywhere.
class SpreadRecording final : public Recording {
 public:
  SpreadRecording(const Recording& from, Index step) : from_(from), step_(step) {
    if (!from.weights()) return;
    weights_.resize(SpreadRecording::frames());
    for (Index t = 0; t < weights_.size(); ++t) weights_(t) = (*from.weights())(t * step);
  }
  Index channels() const override { return from_.channels(); }
  Index frames() const override { return (from_.frames() + step_ - 1) / step_; }
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override { return std::make_unique<FromStart>(*this); }
  bool anywhere() const override { return true; }
  Frames<double> frames_at(Index first, Index count, Matrix<double>& room) const override {
    Matrix<double> one;
    room.resize(channels(), count);
    for (Index t = 0; t < count; ++t) room.col(t) = from_.frames_at((first + t) * step_, 1, one);
    return room;
  }
  const Vector<double>* weights() const override { return weights_.size() > 0 ? &weights_ : nullptr; }

 private:
  class FromStart final : public Reading {
   public:
    explicit FromStart(const SpreadRecording& of) : of_(of) {}
    Index next(Eigen::Ref<Matrix<double>> out) override {
      const Index count = std::min(out.cols(), of_.frames() - at_);
      out.leftCols(count) = of_.frames_at(at_, count, room_);
      at_ += count;
      return count;
    }

   private:
    const SpreadRecording& of_;
    Matrix<double> room_;
    Index at_ = 0;
  };

  const Recording& from_;
  Index step_;
  Vector<double> weights_;
};

}  // namespace

const Recording& LearningData::keep(std::unique_ptr<Recording> recording) {
  own_.push_back(std::move(recording));
  return *own_.back();
}

LearningData::LearningData(const Recording& X, const Whitening& white) : white_(white) {
  constexpr Index held_values = Index{1} << 24;  // 128 MiB
  const Index d = white.components();
  const Index few = std::max<Index>(4096, 10 * d * d);
  const Recording& all =
      X.anywhere()
          ? X
          : keep(std::make_unique<HeldRecording>(
                sample_of(X, white.frames, std::max(few, held_values / X.channels())), X.resolution()));
  // A thirty-second part is copied: it is gone over most often. A quarter is taken from where it lies.
  const Index frames = all.frames();
  if (const Index part = std::max(few, frames / 32); 8 * part <= frames) {
    stages_.push_back(&keep(std::make_unique<HeldRecording>(sample_of(all, frames, part), all.resolution())));
  }
  if (2 * few <= frames / 4) stages_.push_back(&keep(std::make_unique<SpreadRecording>(all, 4)));
  stages_.push_back(&all);
}

Matrix<double> LearningData::fobi_rotation() const {
  WeightedMoments weighted(white_.mean, white_.whitener);
  parallel_sum(*stages_.front(), {}, 0, 0, weighted,
               [&](WeightedMoments& sum, const Frames<double>& chunk, std::int64_t before) {
                 sum.add(chunk, stages_.front()->weights_from(before));
               });
  return symmetric_eigen(weighted.covariance()).vectors.transpose();
}

}  // namespace demix
