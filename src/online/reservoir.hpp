#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "core/archive.hpp"
#include "demix/random.hpp"
#include "demix/types.hpp"

/// A uniform sample of the frames of a stream (Vitter's algorithm R): frame t takes a place drawn among t, if
/// it is one of the K there are, so that every frame of the past is equally likely to be here whatever their
/// order. With a memory M the draw is among M at most, and a frame stays with probability exp(-age/M).
namespace demix {

class Reservoir {
 public:
  Reservoir(Index channels, Index places, double memory, std::uint64_t seed)
      : frames_(Matrix<double>::Zero(channels, places)),
        times_(static_cast<std::size_t>(places), 0),
        memory_(memory),
        random_(seed) {}

  /// Frames kept for so many channels: eight megabytes of them, and some per channel at least.
  static Index places_for(Index channels, double memory) {
    const Index most =
        std::clamp<Index>((Index{1} << 20) / channels, 4 * channels, std::max<Index>(65536, 4 * channels));
    return memory > 0 ? std::min(most, static_cast<Index>(memory)) : most;
  }

  template <typename Derived>
  void add(const Eigen::MatrixBase<Derived>& x) {
    Index place = size_;
    ++seen_;
    if (size_ < frames_.cols()) {
      ++size_;
    } else {
      const auto most = memory_ > 0 ? std::min(seen_, static_cast<std::int64_t>(memory_)) : seen_;
      place = random_.below(most);
      if (place >= size_) return;
    }
    frames_.col(place) = x;
    times_[static_cast<std::size_t>(place)] = seen_;
  }

  Index size() const { return size_; }
  std::int64_t seen() const { return seen_; }
  bool complete() const { return seen_ == size_; }  ///< every frame is here
  auto frames() const { return frames_.leftCols(size_); }
  Matrix<double> in_order_of_time() const {
    std::vector<Index> places(static_cast<std::size_t>(size_));
    std::iota(places.begin(), places.end(), Index{0});
    std::sort(places.begin(), places.end(), [&](Index a, Index b) {
      return times_[static_cast<std::size_t>(a)] < times_[static_cast<std::size_t>(b)];
    });
    return frames_(Eigen::all, places);
  }
  void clear() {
    size_ = 0;
    seen_ = 0;
  }

  template <typename Archive>
  void fields(Archive& a) {
    a(size_, seen_, random_);
    require_state(size_ >= 0 && size_ <= frames_.cols() && seen_ >= size_ && seen_ < std::int64_t{1} << 62,
                  "a place in the sample out of range");
    for (Index k = 0; k < size_; ++k) {
      for (double& value : frames_.col(k)) a(value);
      a(times_[static_cast<std::size_t>(k)]);
    }
  }

 private:
  Matrix<double> frames_;
  std::vector<std::int64_t> times_;
  double memory_;
  Index size_ = 0;
  std::int64_t seen_ = 0;
  Random random_;
};

}  // namespace demix
