#pragma once

#include "demix/moments.hpp"

/// Step 1 of FOBI: h = P (x - mean) with E[h h^T] = I, of as many components as the data has.
namespace demix {

struct WhiteningOptions {
  Index components = 0;  ///< keep at most this many principal components; 0 = all there are
  double share = 0;      ///< keep as few as hold this share of the channels' power; 0 = all there are
  double rank_tolerance =
      0;  ///< drop directions below this share of the largest; 0 = from the precision of the data

  void validate() const;
};

struct Whitening {
  Vector<double> mean;          ///< of the channels
  Matrix<double> whitener;      ///< P: rank x channels
  Matrix<double> dewhitener;    ///< P^+: channels x rank, x = mean + P^+ h
  Vector<double> eigenvalues;   ///< of the channels' correlation matrix, descending, all of them
  std::vector<Index> constant;  ///< channels that never change
  std::int64_t samples =
      0;                    ///< frames it was learned from; if they have weights, as many that count the same
  std::int64_t frames = 0;  ///< of the recording
  Index rank = 0;           ///< number of independent directions in the data
  double condition = 1;     ///< largest over smallest singular value kept, channels scaled to unit variance

  Index components() const { return whitener.rows(); }  ///< min(rank, options.components)
};

/// Channels are scaled to unit variance first, so units do not matter (microvolts beside degrees); directions
/// whose share of the variance is at the level of rounding are dropped: constant, duplicated and dependent
/// channels reduce the rank and leave no Inf behind. Throws std::invalid_argument when nothing varies by more
/// than the rounding of the data, or when moments are not finite (values whose squares overflow).
Whitening whiten(const Moments& moments, const WhiteningOptions& options = {});

/// The same from a mean and a covariance; `resolution` is the rounding unit of the data they came from.
Whitening whiten(const Vector<double>& mean, const Matrix<double>& covariance, double resolution,
                 const WhiteningOptions& options = {});

}  // namespace demix
