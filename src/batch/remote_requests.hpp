#pragma once

#include "core/remote_sums.hpp"

/// The other end of a recording that is elsewhere: what is done where the frames are.
namespace demix {

/// The sums of a request over some frames, packed. Throws std::invalid_argument for frames that cannot be
/// summed up, and for bytes that are no request.
std::string sums_of_block(const Recording& block, BlockPlace place, std::string_view request);

/// Sums of neighbours, in their order, as one.
std::string joined_sums_of(std::string_view request, const std::vector<std::string_view>& parts);

}  // namespace demix
