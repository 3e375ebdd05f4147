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

/// Of an optional library: what needs it, and what to use instead.
inline Error built_without(const std::string& library, const std::string& name, const std::string& needs_it,
                           const std::string& instead) {
  return Error(name + ": this demix was built without " + library + ", which " + needs_it + " need; use " +
               instead);
}

}  // namespace demix::io
