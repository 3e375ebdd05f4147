#pragma once

#include "core/parallel_sum.hpp"
#include "core/remote_sums.hpp"
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
/// Who computes them is another's business: the threads of this process, those of all its ranks
/// (core/ranks.hpp) if the recording has random access, or others altogether (core/remote_sums.hpp). Without
/// random access every rank goes over all of it. Chunks and
/// the order in which they are merged are fixed by the recording, so the result is the same to the bit for
/// any number of threads and ranks. Ranks exchange sums by their fields() (core/pack.hpp).
namespace demix {

template <typename Request>
typename Request::Sums sum_over(const Recording& X, const Request& request) {
  using Sums = typename Request::Sums;
  const Sums none = request.none();
  SumTree<Sums> tree;
  if constexpr (requires { Request::kind; }) {
    if (X.is_remote()) {
      tree.add_packed(X.remote_sums(packed_request(request)), none);
      return std::move(tree).total(none);
    }
  }
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
  static constexpr std::string_view kind = "covariance";
  explicit CovarianceRequest(Index of_channels) : channels(of_channels) {}
  std::tuple<Index> arguments() const { return {channels}; }
  Index channels;

  Moments none() const { return Moments(channels); }
  void add(Moments& sums, const Chunk& chunk) const { sums.add(chunk.frames, chunk.weights); }
};

/// E[w(||h||^2) h h^T] of h = P (x - mean).
struct WeightedCovarianceRequest {
  using Sums = WeightedMoments;
  static constexpr std::string_view kind = "weighted covariance";
  WeightedCovarianceRequest(Vector<double> m, Matrix<double> by, Weight w)
      : mean(std::move(m)), P(std::move(by)), weight(w) {}
  std::tuple<Vector<double>, Matrix<double>, Weight> arguments() const { return {mean, P, weight}; }
  Vector<double> mean;
  Matrix<double> P;
  Weight weight;

  WeightedMoments none() const { return {mean, P, weight}; }
  void add(WeightedMoments& sums, const Chunk& chunk) const { sums.add(chunk.frames, chunk.weights); }
};

}  // namespace demix
