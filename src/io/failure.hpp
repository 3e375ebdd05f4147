#pragma once

#include <cerrno>
#include <cstring>
#include <string>

#include "demix/io.hpp"

namespace demix::io {

/// What the system has just refused, with its reason (errno).
inline Error failure(const std::string& name, const char* what) {
  return Error(name + ": " + what + ": " + std::strerror(errno));
}

}  // namespace demix::io
