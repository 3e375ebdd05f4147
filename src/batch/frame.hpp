#pragma once

#include <algorithm>
#include <optional>

#include "demix/model.hpp"
#include "demix/weight.hpp"
#include "demix/whitening.hpp"

/// What batch separators share: what comes before the rotation is found, and what comes after.
namespace demix {

/// f(chunk) for all of X, telling progress how far between `from` and `to` it has come.
template <typename T, typename F>
void for_each_chunk(const Frames<T>& X, const ProgressCallback& progress, double from, double to, F&& f) {
  constexpr Index chunk = 1 << 16;
  for (Index start = 0; start < X.cols(); start += chunk) {
    if (progress) progress(from + (to - from) * static_cast<double>(start) / static_cast<double>(X.cols()));
    f(Frames<T>(X.middleCols(start, std::min(chunk, X.cols() - start))));
  }
}

/// Refuses what nothing can separate, then whitens: one pass, the first third of the work.
template <typename T>
Whitening prepare(const Frames<T>& X, const WhiteningOptions& options, const ProgressCallback& progress = {});

/// The model of y = Q h, Q a rotation or near one, or fewer rows of one: kurtoses, order, signs, warnings.
/// One pass, the last third. `weight`: of the FOBI matrix that tells the components apart, if that is what
/// does; then pairs too close to tell apart are warned of.
template <typename T>
Model finish(const Frames<T>& X, const Whitening& white, const Matrix<double>& Q,
             std::optional<Weight> weight, const ProgressCallback& progress = {});

}  // namespace demix
