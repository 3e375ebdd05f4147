#pragma once

#include "core/parallel_sum.hpp"
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
/// Who computes them is another's business: here, the threads of one machine. Chunks and the order in which
/// they are merged are fixed by the recording, so the result is the same to the bit for any number of
/// threads.
namespace demix {

/// Some frames of a recording.
struct Chunk {
  const AnyFrames& frames;
  std::int64_t first;     ///< number of its first frame in the recording
  const double* weights;  ///< how much each frame counts; null: all count the same
};

template <typename Request>
typename Request::Sums sum_over(const Recording& X, const Request& request) {
  typename Request::Sums total = request.none();
  parallel_sum(X, total, [&](typename Request::Sums& sums, const AnyFrames& frames, std::int64_t first) {
    request.add(sums, {frames, first, X.weights_from(first)});
  });
  return total;
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
