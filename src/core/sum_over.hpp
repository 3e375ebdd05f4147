#pragma once

#include "core/parallel_sum.hpp"
#include "core/sum_tree.hpp"
#include "demix/moments.hpp"

/// How a batch method asks for what it needs: never frame by frame, but as sums over all frames. A request is
/// a small value that says what to sum; the sums it yields are small too, and merge:
///
///   struct Request {
///     using Sums = ...;                                 // has merge(const Sums&)
///     Sums none() const;                                // of no frames
///     void add(Sums& sums, const Chunk& chunk) const;   // of some
///   };
///
/// Who computes them is another's business: the threads of this process, or those of all its ranks
/// (core/ranks.hpp) if the recording has random access. Without it every rank goes over all of it. Chunks and
/// the order in which they are merged are fixed by the recording, so the result is the same to the bit for
/// any number of threads and ranks. Ranks exchange sums by their fields() (core/pack.hpp).
namespace demix {

/// Some frames of a recording.
struct Chunk {
  const AnyFrames& frames;
  std::int64_t first;     ///< number of its first frame in the recording
  const double* weights;  ///< how much each frame counts; null: all count the same
};

template <typename Request>
typename Request::Sums sum_over(const Recording& X, const Request& request) {
  using Sums = typename Request::Sums;
  const Sums none = request.none();
  SumTree<Sums> tree;
  const auto add = [&](Sums& sums, const AnyFrames& frames, std::int64_t first) {
    request.add(sums, {frames, first, X.weights_from(first)});
  };
  const auto take = [&](Index number, Sums&& sums) { tree.add(0, number, std::move(sums)); };
  const Index chunks = (X.frames() + X.chunk_frames() - 1) / X.chunk_frames();
  Ranks* const all = X.random_access() ? ranks() : nullptr;
  if (!all) {
    SharedReading source(X);
    parallel_chunks(X, source, chunks, none, add, take);
    return std::move(tree).total(none);
  }
  const ChunkShare share = share_of(chunks, all->rank(), all->count());
  SharedReading source(X, share);
  parallel_chunks(X, source, share.end - share.first, none, add, take);
  return std::move(tree).total_over(*all, none);
}

/// Mean and covariance of the channels.
struct CovarianceRequest {
  using Sums = Moments;
  Index channels;

  Moments none() const { return Moments(channels); }
  void add(Moments& sums, const Chunk& chunk) const { sums.add(chunk.frames, chunk.weights); }
};

/// E[w(||h||^2) h h^T] of h = P (x - mean).
struct WeightedCovarianceRequest {
  using Sums = WeightedMoments;
  Vector<double> mean;
  Matrix<double> P;
  Weight weight = Weight::square;

  WeightedMoments none() const { return {mean, P, weight}; }
  void add(WeightedMoments& sums, const Chunk& chunk) const { sums.add(chunk.frames, chunk.weights); }
};

}  // namespace demix
