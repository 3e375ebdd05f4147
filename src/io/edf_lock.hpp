#pragma once

#include <mutex>

namespace demix::io {

/// Held while EDFlib opens or closes a file: its list of open files is not safe with threads.
inline std::mutex& edflib_lock() {
  static std::mutex lock;
  return lock;
}

}  // namespace demix::io
