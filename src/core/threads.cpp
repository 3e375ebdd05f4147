#include "demix/threads.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

namespace demix {
namespace {
std::atomic<Index> limit = 0;
}

Index thread_limit() {
  const Index told = limit;
  return told > 0 ? told : std::max<Index>(1, std::thread::hardware_concurrency());
}

void limit_threads(Index most) { limit = std::max<Index>(0, most); }

}  // namespace demix
