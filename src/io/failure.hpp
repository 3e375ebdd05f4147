#pragma once

#include <cerrno>
#include <cstring>
#include <string>
#include <string_view>

#include "demix/io.hpp"

namespace demix::io {

/// What the system has just refused, with its reason (errno).
inline Error failure(const std::string& name, const char* what) {
  return Error(name + ": " + what + ": " + std::strerror(errno));
}

/// What a file says, to be shown in a message: not much of it, and nothing that a terminal would obey.
inline std::string shown(std::string_view text) {
  std::string out(text.substr(0, 40));
  for (char& c : out) {
    if (static_cast<unsigned char>(c) < ' ' || c == 0x7f) c = '?';
  }
  return out;
}

}  // namespace demix::io
