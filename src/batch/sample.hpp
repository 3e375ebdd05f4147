#pragma once

#include "demix/recording.hpp"

namespace demix {

/// Frames spread evenly over a recording of so many, at most `enough` of them. By default enough to tell how
/// mixed its sources still are, and few enough to cost nothing.
template <typename T = double>
struct Sample {
  Matrix<T> frames;
  Vector<double> weights;  ///< of each; empty if all count the same
};
template <typename T = double>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough = 1 << 14);
extern template Sample<float> sample_of(const Recording&, std::int64_t, std::int64_t);
extern template Sample<double> sample_of(const Recording&, std::int64_t, std::int64_t);

}  // namespace demix
