#pragma once

#include "demix/methods.hpp"

namespace demix {

/// Writes the options of a run into Model::options: what the user chose, and what was chosen for them.
void record_options(Model& model, const MethodOptions& o);

}  // namespace demix
