#pragma once

#include "demix/model.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// What batch separators share: what comes before the rotation is found, and what comes after.
namespace demix {

/// Refuses what nothing can separate, then whitens: one pass.
template <typename T>
Whitening prepare(const Frames<T>& X, const WhiteningOptions& options);

/// The model of y = Q h, Q a rotation or near one, or fewer rows of one: kurtoses, order, signs, warnings.
/// One pass.
template <typename T>
Model finish(const Frames<T>& X, const Whitening& white, const Matrix<double>& Q, Weight weight);

}  // namespace demix
