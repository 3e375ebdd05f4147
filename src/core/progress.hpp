#pragma once

#include "demix/types.hpp"

namespace demix {

/// Progress of a part of the work, which goes from `from` to `to` of all of it. Of no callback, none.
inline ProgressCallback part_of(const ProgressCallback& progress, double from, double to) {
  if (!progress) return {};
  return [=](double share) { progress(from + share * (to - from)); };
}

}  // namespace demix
