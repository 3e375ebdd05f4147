#pragma once

#include "demix/methods.hpp"

/// The table's batch methods. Options come checked.
namespace demix {

Outcome run_fobi(const Frames<double>& X, const MethodOptions& o);
Outcome run_sm_ica_offline(const Frames<double>& X, const MethodOptions& o);

}  // namespace demix
