#pragma once

#include <algorithm>

#include "demix/types.hpp"

/// How every pass over the data goes: block by block, small enough to stay in cache, in double and centred.
namespace demix {

inline constexpr Index block_frames = 512;

/// f(block) with each block of X as doubles.
template <typename T, typename F>
void for_each_block(const Frames<T>& X, F&& f) {
  Matrix<double> block;
  for (Index start = 0; start < X.cols(); start += block_frames) {
    block = X.middleCols(start, std::min(block_frames, X.cols() - start)).template cast<double>();
    f(block);
  }
}

}  // namespace demix
