#pragma once

#include <atomic>
#include <mutex>

#include "core/ranks.hpp"
#include "demix/recording.hpp"

namespace demix {

/// A recording that tells how often it has been gone over, so that what computes with it need not know about
/// progress. `from` must live as long.
class CountedRecording final : public Recording {
 public:
  /// tell(1.5): once, and half of it again. Called now and then, from any thread, one at a time.
  using Tell = std::function<void(double passes)>;
  CountedRecording(const Recording& from, Tell tell) : from_(from), tell_(std::move(tell)) {}

  Index channels() const override { return from_.channels(); }
  Index frames() const override { return from_.frames(); }
  double resolution() const override { return from_.resolution(); }
  const Vector<double>* weights() const override { return from_.weights(); }
  bool is_remote() const override { return from_.is_remote(); }
  std::string remote_sums(const std::string& request) const override {
    std::string sums = from_.remote_sums(request);
    counted(frames());
    return sums;
  }
  bool random_access() const override { return from_.random_access(); }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override {
    counted(count);
    return from_.frames_at(first, count, buffer);
  }
  std::unique_ptr<Reading> read() const override { return std::make_unique<Counted>(*this); }

 private:
  class Counted final : public Reading {
   public:
    explicit Counted(const CountedRecording& of) : of_(of), from_(of.from_.read()) {}
    Index next(Eigen::Ref<Matrix<double>> out) override {
      const Index got = from_->next(out);
      of_.counted(got);
      return got;
    }

   private:
    const CountedRecording& of_;
    std::unique_ptr<Reading> from_;
  };

  void counted(Index frames) const {
    constexpr std::int64_t seldom = 1 << 16;
    if (random_access() && ranks()) frames *= ranks()->count();  // those of the others
    const std::int64_t before = frames_.fetch_add(frames);
    if (from_.frames() == 0 || before / seldom == (before + frames) / seldom) return;
    const std::unique_lock lock(telling_, std::try_to_lock);
    if (lock) tell_(static_cast<double>(before + frames) / static_cast<double>(from_.frames()));
  }

  const Recording& from_;
  Tell tell_;
  mutable std::atomic<std::int64_t> frames_{0};
  mutable std::mutex telling_;
};

}  // namespace demix
