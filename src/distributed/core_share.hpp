#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "demix/types.hpp"

namespace demix {

/// How many cores a rank has for itself. `allowed`: for each rank of its host the cores it may run on, one
/// character each, '1' = yes. What several may use is divided among them; at least 1.
inline Index core_share(const std::vector<std::string>& allowed, std::size_t rank) {
  double share = 1e-9;  // three thirds make one
  for (std::size_t core = 0; core < allowed[rank].size(); ++core) {
    if (allowed[rank][core] != '1') continue;
    share += 1.0 / static_cast<double>(std::ranges::count_if(
                       allowed, [&](const std::string& of) { return of[core] == '1'; }));
  }
  return std::max<Index>(1, static_cast<Index>(share));
}

}  // namespace demix
