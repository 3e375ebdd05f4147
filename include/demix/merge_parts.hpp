#pragma once

#include <functional>

#include "demix/methods.hpp"
#include "demix/part_moments.hpp"

namespace demix {

/// Whether a method needs no more of the data than sums that merge: fobi, jade, sm-ica-offline.
bool takes_sums(const Method& method);

/// The method's model of all parts together. `visit` goes over them, again whenever it is called, in the same
/// order; the result depends on that order by rounding. Throws NoSuchOption for what sums are not enough for.
Outcome merge_parts(const Method& method, const MethodOptions& options,
                    const std::function<void(const std::function<void(const PartMoments&)>&)>& visit);

}  // namespace demix
