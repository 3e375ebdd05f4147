#pragma once

#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "demix/types.hpp"

namespace demix {

/// work(k, state) for k = 0 ... count-1 on `threads` threads (0 = one per core), each with a State of its
/// own. Which thread does which is left open, so work must not depend on it. Rethrows the first exception.
template <typename State, typename Work>
void parallel(Index count, int threads, const ProgressCallback& progress, const Work& work) {
  const Index cores = std::max(1U, std::thread::hardware_concurrency());
  const Index workers = std::min(count, threads > 0 ? Index{threads} : cores);
  std::atomic<Index> next = 0;
  std::mutex mutex;
  Index done = 0;
  std::exception_ptr error;
  const auto loop = [&] {
    State state;
    for (Index k = next++; k < count; k = next++) {
      try {
        work(k, state);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
        return;
      }
      const std::scoped_lock lock(mutex);
      ++done;
      if (progress) progress(static_cast<double>(done) / static_cast<double>(count));
    }
  };
  {
    std::vector<std::jthread> pool;
    for (Index w = 1; w < workers; ++w) pool.emplace_back(loop);
    loop();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace demix
