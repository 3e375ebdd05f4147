#pragma once

#include <algorithm>

#include "core/frame_kernels.hpp"
#include "demix/types.hpp"

/// How every pass over the data goes: block by block, small enough to stay in cache.
namespace demix {

inline constexpr Index block_frames = 48;

/// Some frames less their origin, as the kernels want them.
template <typename T>
struct Block {
  const LineMatrix<T>& x;
  const double* weights;  ///< of the frames; null: all count the same. Frames of weight 0 are 0.
  Ahead ahead;            ///< where the next block lies, if there is one

  Index frames() const { return x.cols(); }
  double total() const {  ///< of the weights
    return weights ? Eigen::Map<const Vector<double>>(weights, frames()).sum()
                   : static_cast<double>(frames());
  }
};

/// f(block) with each block of X less `origin`. `weights`: of the frames of X, or null. T: what the blocks
/// are in, whatever X is. `most`: frames of a block.
template <typename T = double, typename F>
void for_each_centred_block(const AnyFrames& X, const Vector<double>& origin, const double* weights, F&& f,
                            Index most = block_frames) {
  Scratch<T> scratch;
  LineMatrix<T>& x = *scratch;
  const auto go = [&](const auto& all) {
    for (Index start = 0; start < all.cols(); start += most) {
      const Index frames = std::min(most, all.cols() - start);
      const auto* from = all.data() + start * all.outerStride();
      centre(from, all.outerStride(), frames, origin, x);
      if (weights) {
        for (Index t = 0; t < frames; ++t) {
          if (weights[start + t] == 0) x.col(t).setZero();
        }
      }
      const auto bytes = static_cast<Index>(sizeof(*from)) * all.outerStride() * frames;
      f(Block<T>{x,
                 weights ? weights + start : nullptr,
                 {reinterpret_cast<std::uintptr_t>(from) + static_cast<std::uintptr_t>(bytes), bytes}});
    }
  };
  std::visit(go, X);
}

}  // namespace demix
