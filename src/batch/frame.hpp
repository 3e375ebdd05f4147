#pragma once

#include <optional>

#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// What separators of whole recordings share: what comes before the rotation is found, and what comes after.
namespace demix {

/// Refuses what nothing can separate, then whitens: one pass, the first third of the work.
Whitening prepare(const Recording& X, const WhiteningOptions& options, const ProgressCallback& progress = {});

/// The model of y = Q h, Q a rotation or near one, or fewer rows of one: kurtoses, order, signs, warnings.
/// One pass, the last third. `weight`: of the FOBI matrix that tells the components apart, if that is what
/// does; then pairs too close to tell apart are warned of.
Model finish(const Recording& X, const Whitening& white, const Matrix<double>& Q,
             std::optional<Weight> weight, const ProgressCallback& progress = {});

/// Frames spread evenly over a recording of so many, at most `enough` of them. By default enough to tell how
/// mixed its sources still are, and few enough to cost nothing.
class Sample {
 public:
  Sample(Index rows, std::int64_t frames, std::int64_t enough = 1 << 16);
  /// A chunk with so many frames before it; in any order, from any thread.
  void add(const Frames<double>& chunk, std::int64_t before);
  const Matrix<double>& matrix() const { return kept_; }

 private:
  std::int64_t stride_;
  Matrix<double> kept_;
};

/// The same in a pass of its own.
Matrix<double> sample_of(const Recording& X, std::int64_t frames);

}  // namespace demix
