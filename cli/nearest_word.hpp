#pragma once

#include <string>
#include <vector>

namespace demix::cli {

/// "; did you mean WORD?" with the one of `words` that was probably meant, or nothing.
std::string suggestion(const std::string& typed, const std::vector<std::string>& words);

}  // namespace demix::cli
