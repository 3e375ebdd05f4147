#pragma once

#include <algorithm>
#include <cstdint>

#include "core/archive.hpp"
#include "demix/types.hpp"

namespace demix {

/// Frames spread evenly over the past (converge) or over the last two memories (track), to judge by.
class FrameSample {
 public:
  static constexpr Index most = 2048;  // frames kept

  FrameSample(Index channels, double memory)
      : frames_(Matrix<double>::Zero(channels, most)),
        rolling_(memory > 0),
        stride_(std::max<std::int64_t>(1, static_cast<std::int64_t>(2 * memory / most))) {}

  void add(const double* x) {
    if (++since_ < stride_) return;
    since_ = 0;
    if (size_ == frames_.cols() && !rolling_) {  // every second one makes room
      for (Index k = 0; k < size_ / 2; ++k) frames_.col(k) = frames_.col(2 * k + 1);
      size_ /= 2;
      stride_ *= 2;
      at_ = size_;
    }
    frames_.col(at_) = Eigen::Map<const Vector<double>>(x, frames_.rows());
    size_ = std::max(size_, at_ + 1);
    at_ = (at_ + 1) % frames_.cols();
  }
  auto frames() const { return frames_.leftCols(size_); }
  void clear() {
    size_ = at_ = 0;
    since_ = 0;
  }
  template <typename Archive>
  void fields(Archive& a) {
    a(frames_, stride_, since_, size_, at_);
  }
  void loaded() const {
    require_state(stride_ >= 1 && since_ >= 0 && since_ < stride_, "a stride of the sample out of range");
    require_state(stride_ <= std::int64_t{1} << 60, "a stride of the sample out of range");
    require_state(size_ >= 0 && size_ <= frames_.cols() && at_ >= 0 && at_ <= size_ && at_ < frames_.cols(),
                  "a place in the sample out of range");
  }

 private:
  Matrix<double> frames_;
  bool rolling_;
  std::int64_t stride_;
  std::int64_t since_ = 0;
  Index size_ = 0;
  Index at_ = 0;
};

}  // namespace demix
