#include "demix/threads.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace demix {
namespace {
std::atomic<Index> limit = 0;
thread_local Index own_limit = 0;
}  // namespace

Index thread_limit() {
  const Index told = own_limit > 0 ? own_limit : limit.load();
  return told > 0 ? told : std::max<Index>(1, std::thread::hardware_concurrency());
}

void limit_threads(Index most) { limit = std::max<Index>(0, most); }

ThreadLimit::ThreadLimit(Index most) : before_(own_limit) {
  if (most > 0) own_limit = most;
}
ThreadLimit::~ThreadLimit() { own_limit = before_; }

}  // namespace demix
