#pragma once

#include <array>
#include <vector>

#include "demix/causal_filter.hpp"
#include "demix/recording.hpp"

/// Filters of recordings, as cascades of second-order sections, and recordings of some channels or frames of
/// another.
namespace demix {

/// Butterworth's, of even order; half the power at `hz`. Throws std::invalid_argument unless it is between 0
/// and half the rate.
Filter butterworth_lowpass(int order, double hz, double rate);
Filter butterworth_highpass(int order, double hz, double rate);
/// Nothing left at `hz`; half the power at a distance of hz / (2 quality).
Filter notch(double hz, double quality, double rate);

/// Which filters to use; 0 or empty = none. Over recordings each is passed forward and backward: no shift in
/// time, twice the order.
struct FilterOptions {
  double highpass = 0, lowpass = 0;  ///< Hz; Butterworth of order 4
  std::vector<double> notches = {};  ///< Hz; of quality 30
  Index decimate = 1;  ///< keep one frame of so many, after a lowpass at 0.8 of the new half rate
  bool any() const { return highpass > 0 || lowpass > 0 || !notches.empty() || decimate > 1; }
};
/// All of them as one. Throws std::invalid_argument naming the frequency that cannot be.
Filter design(const FilterOptions& options, double rate);

/// Frames after which what was before matters by less than 1e-9.
Index settling_frames(const Filter& filter);

/// Forward and backward over all frames of X, which are extended at both ends by their point reflection, as
/// SciPy's sosfiltfilt does.
Matrix<double> zero_phase(const Filter& filter, const Matrix<double>& X);

/// A recording filtered forward and backward: in long chunks with settled edges, so that it may be larger
/// than memory. `from` must live as long; here and below a temporary does not compile.
class FilteredRecording final : public Recording {
 public:
  /// `boundaries`: frames at which something new begins, which is filtered for itself.
  FilteredRecording(const Recording& from, Filter filter, std::vector<Index> boundaries = {});
  FilteredRecording(const Recording&&, Filter, std::vector<Index> = {}) = delete;
  Index channels() const override { return from_.channels(); }
  Index frames() const override { return from_.frames(); }
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override;
  const Vector<double>* weights() const override { return from_.weights(); }

 private:
  class Chunks;
  const Recording& from_;
  Filter filter_;
  std::vector<Index> boundaries_;
  Index settling_, chunk_;
};

/// Every nth frame of a recording, from the first on.
class DecimatedRecording final : public Recording {
 public:
  DecimatedRecording(const Recording& from, Index n);
  DecimatedRecording(const Recording&&, Index) = delete;
  Index channels() const override { return from_.channels(); }
  Index frames() const override { return (from_.frames() + n_ - 1) / n_; }
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override;

 private:
  const Recording& from_;
  Index n_;
};

/// Some channels of a recording.
class PickedRecording final : public Recording {
 public:
  PickedRecording(const Recording& from, std::vector<Index> picks) : from_(from), picks_(std::move(picks)) {}
  PickedRecording(const Recording&&, std::vector<Index>) = delete;
  Index channels() const override { return static_cast<Index>(picks_.size()); }
  Index frames() const override { return from_.frames(); }
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override;
  bool random_access() const override { return from_.random_access(); }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override;
  const Vector<double>* weights() const override { return from_.weights(); }

 private:
  const Recording& from_;
  std::vector<Index> picks_;
};

}  // namespace demix
