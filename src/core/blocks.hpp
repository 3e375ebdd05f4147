#pragma once

#include <algorithm>

#include "core/frame_kernels.hpp"
#include "core/scratch.hpp"
#include "demix/types.hpp"

/// How every pass over the data goes: block by block, small enough to stay in cache.
namespace demix {

inline constexpr Index block_frames = 512;

/// Rows of a block that lies channel after channel: some more than frames, or the channels, 4096 bytes apart,
/// would all want the same place in the cache.
inline constexpr Index block_rows = block_frames + 8;

/// f(block, frames, weights) with each block of X less `origin`, channel after channel as the kernels want
/// it: the first `frames` rows of it are the frames, what is below is 0. `weights`: of the frames of X, or
/// null; then f gets none either, else as many as there are rows, and frames of weight 0 are 0. B: what the
/// block is in, whatever X is.
template <typename B = double, typename F>
void for_each_centred_block(const AnyFrames& X, const Vector<double>& origin, const double* weights, F&& f) {
  const Index all = std::visit([](const auto& x) { return x.cols(); }, X);
  Scratch<B> scratch;
  Matrix<B>& block = *scratch;
  block.resize(block_rows, origin.size());
  block.bottomRows(block_rows - block_frames).setZero();
  Vector<double> w = Vector<double>::Zero(weights ? block_rows : 0);
  for (Index start = 0; start < all; start += block_frames) {
    const Index frames = std::min(block_frames, all - start);
    std::visit(
        [&](const auto& x) {
          turn(x.col(start).data(), x.outerStride(), frames, origin, block.data(), block_rows);
        },
        X);
    if (frames < block_frames) block.bottomRows(block_rows - frames).setZero();
    if (weights) {
      for (Index t = 0; t < block_frames; ++t) {
        w(t) = t < frames ? weights[start + t] : 0;
        if (w(t) == 0) block.row(t).setZero();
      }
    }
    f(block, frames, weights ? w.data() : nullptr);
  }
}

/// The same of frames that all count the same: f(block, frames).
template <typename F>
void for_each_centred_block(const AnyFrames& X, const Vector<double>& origin, F&& f) {
  for_each_centred_block(X, origin, nullptr,
                         [&](Matrix<double>& block, Index frames, const double*) { f(block, frames); });
}

}  // namespace demix
