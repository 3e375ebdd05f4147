#pragma once

#include "io/deflate.hpp"
#include "io/zip.hpp"

namespace demix::io {

/// A zip file of one stored member.
inline std::string zipped(const std::string& name, const std::string& bytes) {
  const std::uint32_t sum = checksum(bytes, "");
  return zip::before(name, bytes.size(), sum) + bytes + zip::after(name, bytes.size(), sum);
}

}  // namespace demix::io
