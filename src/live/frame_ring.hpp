#pragma once

#include <atomic>
#include <bit>
#include <cstdint>
#include <limits>
#include <vector>

#include "demix/types.hpp"

namespace demix::live {

/// Frames on their way from one thread, the stream's, to one other. Neither waits: what there is no space for
/// is left out. Frames are of `rows` floats: the first channels and the first outputs.
class FrameRing {
 public:
  FrameRing(Index channels, Index outputs)
      : channels_(channels),
        outputs_(outputs),
        mask_(
            static_cast<Index>(std::bit_floor(static_cast<std::size_t>(most_floats / (channels + outputs)))) -
            1),
        numbers_(static_cast<std::size_t>(mask_ + 1)),
        values_(static_cast<std::size_t>((mask_ + 1) * rows())) {}

  Index rows() const { return channels_ + outputs_; }
  Index capacity() const { return mask_ + 1; }

  /// The stream's thread.
  void push(std::int64_t first, const Frames<double>& X, const Frames<double>& Y) noexcept {
    const Index head = head_.load(std::memory_order_relaxed);
    const Index space = capacity() - (head - tail_.load(std::memory_order_acquire));
    const Index taken = std::min(space, X.cols());
    for (Index t = 0; t < taken; ++t) {
      const auto slot = static_cast<std::size_t>((head + t) & mask_);
      numbers_[slot] = first + t;
      float* row = values_.data() + slot * static_cast<std::size_t>(rows());
      for (Index i = 0; i < channels_; ++i) *row++ = static_cast<float>(X(i, t));
      for (Index k = 0; k < outputs_; ++k) *row++ = static_cast<float>(Y(k, t));
    }
    head_.store(head + taken, std::memory_order_release);
  }

  /// The other thread: calls visit(number, values) for at most so many frames; returns for how many.
  template <typename Visit>
  Index drain(Index most, Visit visit) {
    const Index tail = tail_.load(std::memory_order_relaxed);
    const Index there = std::min(most, head_.load(std::memory_order_acquire) - tail);
    for (Index t = 0; t < there; ++t) {
      const auto slot = static_cast<std::size_t>((tail + t) & mask_);
      visit(numbers_[slot], values_.data() + slot * static_cast<std::size_t>(rows()));
    }
    tail_.store(tail + there, std::memory_order_release);
    return there;
  }

 private:
  static constexpr Index most_floats = Index{1} << 20;  // 4 MB
  Index channels_, outputs_;
  Index mask_;
  std::vector<std::int64_t> numbers_;
  std::vector<float> values_;
  alignas(64) std::atomic<Index> head_{0};
  alignas(64) std::atomic<Index> tail_{0};
};

}  // namespace demix::live
