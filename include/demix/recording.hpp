#pragma once

#include <functional>
#include <limits>

#include "demix/types.hpp"

namespace demix {

/// Frames that are gone over in blocks, as often as needed: a matrix in memory, or a file larger than it.
class Recording {
 public:
  using Visitor = std::function<void(const Frames<double>&)>;

  virtual ~Recording() = default;
  virtual Index channels() const = 0;
  virtual Index frames() const = 0;  ///< 0 = not known before it was gone over
  /// Every frame in its order, some at a time: visit(channels x any number).
  virtual void pass(const Visitor& visit) const = 0;
  /// Rounding unit of the samples, relative to their size.
  virtual double resolution() const { return std::numeric_limits<double>::epsilon(); }
};

/// A matrix as a recording. It must live as long.
template <typename T>
class MatrixRecording final : public Recording {
 public:
  explicit MatrixRecording(const Frames<T>& X) : X_(X) {}
  Index channels() const override { return X_.rows(); }
  Index frames() const override { return X_.cols(); }
  void pass(const Visitor& visit) const override;
  double resolution() const override { return static_cast<double>(std::numeric_limits<T>::epsilon()); }

 private:
  const Frames<T>& X_;
};
extern template class MatrixRecording<float>;
extern template class MatrixRecording<double>;

/// pass(), telling progress how far between `from` and `to` it has come.
void pass(const Recording& recording, const ProgressCallback& progress, double from, double to,
          const Recording::Visitor& visit);

Matrix<double> gather(const Recording& recording);  ///< all of it in memory

}  // namespace demix
