#pragma once

#include "batch/training_stages.hpp"
#include "demix/rotation.hpp"

namespace demix {

/// FOBI's rotation of the first training stage: where methods that take steps start, unless told otherwise.
Rotation fobi_of_first_stage(const WhiteRecording& white);

}  // namespace demix
