#pragma once

#include "demix/methods.hpp"

namespace demix {

/// Every online method over a recording: whitens the input if asked, feeds it, and describes what came of it.
/// Options come checked.
Outcome run_online(const Method& method, const Recording& X, const MethodOptions& o);

}  // namespace demix
