#pragma once

#include "demix/rotation.hpp"

namespace demix {

struct FobiAndJade {
  Rotation fobi, jade;
};

/// Both of the same fourth moments: one pass, for few components.
FobiAndJade fobi_and_jade(const WhiteRecording& white);

}  // namespace demix
