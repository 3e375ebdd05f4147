#pragma once

#include "demix/types.hpp"

namespace demix {

/// On how many threads the work on a recording may be done: as many as there are cores, unless told
/// otherwise. Results do not depend on it.
Index thread_limit();
void limit_threads(Index most);  ///< 0: as many as there are cores

/// The same for what this thread asks for, while it lives; goes before limit_threads().
class ThreadLimit {
 public:
  explicit ThreadLimit(Index most);  ///< 0: no other limit than before
  ~ThreadLimit();
  ThreadLimit(const ThreadLimit&) = delete;
  ThreadLimit& operator=(const ThreadLimit&) = delete;

 private:
  Index before_;
};

}  // namespace demix
