#pragma once

#include <array>
#include <atomic>

namespace demix::live {

/// The latest value of one thread, for one other: three places, of which the writer owns one, the reader one.
template <typename T>
class Latest {
 public:
  explicit Latest(const T& value) : places_{value, value, value} {}

  /// The writer: fills draft(), then publishes it.
  T& draft() { return places_[draft_]; }
  void publish() { draft_ = between_.exchange(draft_ | fresh, std::memory_order_acq_rel) & ~fresh; }

  /// The reader: true if there is a new one.
  bool update() {
    if ((between_.load(std::memory_order_relaxed) & fresh) == 0) return false;
    read_ = between_.exchange(read_, std::memory_order_acq_rel) & ~fresh;
    return true;
  }
  const T& value() const { return places_[read_]; }

 private:
  static constexpr unsigned fresh = 4;
  std::array<T, 3> places_;
  unsigned draft_ = 0;
  std::atomic<unsigned> between_{1};
  unsigned read_ = 2;
};

}  // namespace demix::live
