#pragma once

#include "demix/methods.hpp"

namespace demix {

/// What the user chose, and what was chosen for them, into the model.
void record(Model& model, const MethodOptions& o);

}  // namespace demix
