#pragma once

#include <optional>

#include "demix/linear_algebra.hpp"
#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// What separators of whole recordings share: what comes before the rotation is found, and what comes after.
namespace demix {

/// Refuses what nothing can separate, then whitens: one pass, the first third of the work.
Whitening prepare(const Recording& X, const WhiteningOptions& options, const ProgressCallback& progress = {});

/// C_z = E[w(||h||^2) h h^T] = U D U^T of white h: FOBI's second step, in one pass.
Eigenpairs fobi_eigenpairs(const Recording& X, const Whitening& white, Weight weight = Weight::square,
                           const ProgressCallback& progress = {});

/// The model of y = Q h, Q a rotation or near one, or fewer rows of one: kurtoses, order, signs, warnings.
/// One pass, the last third.
struct Finish {
  /// If it is the weighted variances D_i = E[w(||y||^2) y_i^2] that tell the components apart, as with FOBI:
  /// then pairs too close to tell apart are warned of.
  struct ByWeight {
    Weight weight;
    Vector<double> D = {};                ///< empty: found in one more pass
    Matrix<double>* crosstalk = nullptr;  ///< where to put what is to be expected, as fobi_crosstalk has it
  };
  std::optional<ByWeight> by = {};
  Order order = Order::kurtosis;
  ProgressCallback progress = {};
};
Model finish(const Recording& X, const Whitening& white, const Matrix<double>& Q, const Finish& how);

/// The rotation that comes next to U P, U being an unmixing of the channels: to go on from there.
Matrix<double> rotation_near(const Matrix<double>& unmixing, const Whitening& white);

/// Frames spread evenly over a recording of so many, at most `enough` of them. By default enough to tell how
/// mixed its sources still are, and few enough to cost nothing.
template <typename T = double>
struct Sample {
  Matrix<T> frames;
  Vector<double> weights;  ///< of each; empty if all count the same
};
template <typename T = double>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough = 1 << 14);
extern template Sample<float> sample_of(const Recording&, std::int64_t, std::int64_t);
extern template Sample<double> sample_of(const Recording&, std::int64_t, std::int64_t);

}  // namespace demix
