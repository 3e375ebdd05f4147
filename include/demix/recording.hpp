#pragma once

#include <functional>
#include <limits>
#include <memory>

#include "demix/types.hpp"

namespace demix {

/// Frames that are gone over in their order, as often as needed: a matrix in memory, or a file larger than
/// it.
class Recording {
 public:
  /// Once through it.
  class Reading {
   public:
    virtual ~Reading() = default;
    /// The next frames into the first columns: as many as there are columns, unless it ends; 0 = the end.
    virtual Index next(Eigen::Ref<Matrix<double>> out) = 0;
  };
  using Visitor = std::function<void(const Frames<double>&)>;

  virtual ~Recording() = default;
  virtual Index channels() const = 0;
  virtual Index frames() const = 0;  ///< 0 = not known before it was gone over
  /// Rounding unit of the samples, relative to their size.
  virtual double resolution() const { return std::numeric_limits<double>::epsilon(); }
  virtual std::unique_ptr<Reading> read() const = 0;  ///< from the first frame on; one reading at a time

  /// visit(chunk) for all of it, some frames at a time.
  virtual void pass(const Visitor& visit) const;

  /// So many that a chunk stays in cache: the same for every recording of as many channels, so that sums made
  /// chunk by chunk do not depend on where the frames come from.
  Index chunk_frames() const;
};

/// A matrix as a recording. It must live as long.
template <typename T>
class MatrixRecording final : public Recording {
 public:
  explicit MatrixRecording(const Frames<T>& X) : X_(X) {}
  Index channels() const override { return X_.rows(); }
  Index frames() const override { return X_.cols(); }
  double resolution() const override { return static_cast<double>(std::numeric_limits<T>::epsilon()); }
  std::unique_ptr<Reading> read() const override;

 private:
  const Frames<T>& X_;
};
extern template class MatrixRecording<float>;
extern template class MatrixRecording<double>;

/// A recording with something done to every frame of it; in a pass, on all cores. `from` must live as long.
class MappedRecording final : public Recording {
 public:
  using Map = std::function<Matrix<double>(const Frames<double>&)>;
  MappedRecording(const Recording& from, Index channels, Map map)
      : from_(from), channels_(channels), map_(std::move(map)) {}
  Index channels() const override { return channels_; }
  Index frames() const override { return from_.frames(); }
  std::unique_ptr<Reading> read() const override;
  void pass(const Visitor& visit) const override;

 private:
  const Recording& from_;
  Index channels_;
  Map map_;
};

Matrix<double> gather(const Recording& recording);  ///< all of it in memory

}  // namespace demix
