#pragma once

#include <string_view>

namespace demix {

/// G of the contrast E[G(y)], by its name:
///   logcosh: G = log cosh y    exp: G = 1 - exp(-y^2 / 2)    cube: G = y^4 / 4    skew: G = y^3 / 3
enum class Contrast { logcosh, exp, cube, skew };
std::string_view contrast_name(Contrast contrast);
Contrast contrast_named(std::string_view name);  ///< throws std::invalid_argument listing the names

}  // namespace demix
