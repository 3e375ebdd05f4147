#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "io/file_bytes.hpp"

/// What zlib does for .npz and .mat. Without it, an Error that says so. `name` is only for messages.
namespace demix::io {

enum class Deflated {
  bare,     ///< as in a zip file
  wrapped,  ///< with zlib's head and checksum
};
/// The first `most` bytes of what is in `from`, or all if there is less.
std::string inflated(const Part& from, Deflated how, std::uint64_t most, const std::string& name);

/// Refuses `announced` bytes where `packed` ones cannot hold them, or they are too many to keep in memory.
void check_inflated_size(std::uint64_t announced, std::uint64_t packed, const std::string& name);

std::uint32_t checksum(std::string_view bytes, const std::string& name, std::uint32_t before = 0);
/// Of two pieces, of which the second is `second_bytes` long.
std::uint32_t joined_checksum(std::uint32_t first, std::uint32_t second, std::uint64_t second_bytes);

}  // namespace demix::io
