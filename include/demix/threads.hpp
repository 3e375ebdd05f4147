#pragma once

#include "demix/types.hpp"

namespace demix {

/// On how many threads the work on a recording may be done: as many as there are cores, unless told
/// otherwise. Results do not depend on it.
Index thread_limit();
void limit_threads(Index most);  ///< 0: as many as there are cores

}  // namespace demix
