#pragma once

#include <cstdint>
#include <string_view>

namespace demix {

/// FNV-1a: tells a damaged file from a sound one.
inline std::uint64_t checksum(std::string_view bytes) {
  std::uint64_t hash = 0xcbf29ce484222325U;
  for (const char c : bytes) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3U;
  return hash;
}

}  // namespace demix
