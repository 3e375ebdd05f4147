#pragma once

#include <functional>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "demix/types.hpp"

namespace demix {

/// Memory that frames are read into, in the type they are stored in.
struct FrameBuffer {
  Matrix<double> doubles;
  Matrix<float> floats;
};

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

  /// Whether any thread can read any frames at any time, by frames_at(): a view of `count` frames from
  /// `first` on, in the type they are stored in. They are viewed where they are in memory, or copied to
  /// `buffer`.
  virtual bool random_access() const { return false; }
  virtual AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const;

  /// Whether others hold the frames: this process cannot read them, and gets sums by remote_sums(), which
  /// takes and gives what core/remote_sums.hpp says.
  virtual bool is_remote() const { return false; }
  virtual std::string remote_sums(const std::string& request) const;

  /// How much each frame counts beside the others, 0 or more: frames of 0 are as if they were not there.
  /// Null: all count the same.
  virtual const Vector<double>* weights() const { return nullptr; }

  /// The same, of the frames from this one on.
  const double* weights_from(std::int64_t first) const {
    return weights() ? weights()->data() + first : nullptr;
  }

  /// visit(chunk) for all of it, some frames at a time.
  virtual void pass(const Visitor& visit) const;

  /// So many that a chunk stays in cache: the same for every recording of as many channels, so that sums made
  /// chunk by chunk do not depend on where the frames come from.
  Index chunk_frames() const;
};

/// A matrix as a recording: a view of its memory, which must live as long. A temporary, or an expression that
/// would have to be computed first, does not compile.
template <typename T>
class MatrixRecording final : public Recording {
 public:
  using View = Eigen::Map<const Matrix<T>, Eigen::Unaligned, Eigen::OuterStride<>>;
  explicit MatrixRecording(const Matrix<T>& X) : X_(view_of(X)) {}
  explicit MatrixRecording(const Frames<T>& X) : X_(view_of(X)) {}
  explicit MatrixRecording(const Matrix<T>&&) = delete;
  explicit MatrixRecording(const Frames<T>&&) = delete;
  Index channels() const override { return X_.rows(); }
  Index frames() const override { return X_.cols(); }
  double resolution() const override { return static_cast<double>(std::numeric_limits<T>::epsilon()); }
  std::unique_ptr<Reading> read() const override;
  bool random_access() const override { return true; }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override;

 private:
  template <typename Dense>
  static View view_of(const Dense& X) {
    return {X.data(), X.rows(), X.cols(), Eigen::OuterStride<>(X.outerStride())};
  }
  View X_;
};
extern template class MatrixRecording<float>;
extern template class MatrixRecording<double>;

/// A recording some frames of which count more than others. `from` must live as long; here and below a
/// temporary does not compile.
class WeightedRecording final : public Recording {
 public:
  /// Throws std::invalid_argument unless there is one for every frame, none of them negative or not finite,
  /// and some above 0.
  WeightedRecording(const Recording& from, Vector<double> weights);
  WeightedRecording(const Recording&&, Vector<double>) = delete;
  Index channels() const override { return from_.channels(); }
  Index frames() const override { return from_.frames(); }
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override { return from_.read(); }
  bool random_access() const override { return from_.random_access(); }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override {
    return from_.frames_at(first, count, buffer);
  }
  const Vector<double>* weights() const override { return &weights_; }

 private:
  const Recording& from_;
  Vector<double> weights_;
};

/// Frames from `first` up to, but not with, `end`.
struct Segment {
  Index first = 0, end = 0;

  template <typename Archive>
  void fields(Archive& a) {
    a(first, end);
  }
};

/// A recording without some of its frames. `from` must live as long.
class RecordingWithout final : public Recording {
 public:
  /// Segments may overlap and reach beyond the end. Throws std::invalid_argument if one ends before it
  /// begins.
  RecordingWithout(const Recording& from, const std::vector<Segment>& bad);
  RecordingWithout(const Recording&&, const std::vector<Segment>&) = delete;
  Index channels() const override { return from_.channels(); }
  Index frames() const override;
  double resolution() const override { return from_.resolution(); }
  std::unique_ptr<Reading> read() const override;
  bool random_access() const override { return from_.random_access(); }
  AnyFrames frames_at(Index first, Index count, FrameBuffer& buffer) const override;
  const Vector<double>* weights() const override { return from_.weights() ? &weights_ : nullptr; }
  bool is_remote() const override { return from_.is_remote(); }
  std::string remote_sums(const std::string& request) const override;

 private:
  class Skipping;
  const Recording& from_;
  std::vector<Segment> good_;  // in order; the last one without an end
  Vector<double> weights_;
};

/// A recording with something done to every frame of it; in a pass, on all cores. `from` must live as long.
class MappedRecording final : public Recording {
 public:
  using Map = std::function<Matrix<double>(const Frames<double>&)>;
  MappedRecording(const Recording& from, Index channels, Map map)
      : from_(from), channels_(channels), map_(std::move(map)) {}
  MappedRecording(const Recording&&, Index, Map) = delete;
  Index channels() const override { return channels_; }
  Index frames() const override { return from_.frames(); }
  std::unique_ptr<Reading> read() const override;
  void pass(const Visitor& visit) const override;

  /// visit(frames before it, chunk) for the chunks of pass() that are this process's share among its ranks;
  /// from several threads at once. Only if `from` has random access.
  using PlacedVisitor = std::function<void(std::int64_t before, const Frames<double>&)>;
  void pass_share(const PlacedVisitor& visit) const;
  bool has_shares() const { return from_.random_access(); }

 private:
  const Recording& from_;
  Index channels_;
  Map map_;
};

Matrix<double> gather(const Recording& recording);  ///< all of it in memory

/// Frames as doubles: themselves, or a view of `buffer`, which they were copied to.
Frames<double> as_doubles(const AnyFrames& frames, Matrix<double>& buffer);

}  // namespace demix
