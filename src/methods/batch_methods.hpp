#pragma once

#include "demix/methods.hpp"

/// The table's batch methods. Options come checked.
namespace demix {

Outcome run_fobi(const Recording& X, const MethodOptions& o);
Outcome run_fastica(const Recording& X, const MethodOptions& o);
Outcome run_jade(const Recording& X, const MethodOptions& o);
Outcome run_picard(const Recording& X, const MethodOptions& o);
Outcome run_auto(const Recording& X, const MethodOptions& o);
Outcome run_sm_ica_offline(const Recording& X, const MethodOptions& o);

struct JadeOptions;
JadeOptions jade_options(const MethodOptions& options);
struct SmIcaOfflineOptions;
SmIcaOfflineOptions sm_ica_offline_options(const MethodOptions& options);

}  // namespace demix
