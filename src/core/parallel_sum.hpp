#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "demix/recording.hpp"

namespace demix {

/// A sum over a recording, on all cores. Threads take turns to read a chunk; each then makes a copy of
/// `total` as it was, calls add(copy, chunk, frames before it), and, in the order of the chunks,
/// total.merge(copy). So the result does not depend on the number of threads. What reading, add or
/// merge throws is thrown, the first in order. Progress goes from `from` to `to`.
template <typename Sum, typename Add>
void parallel_sum(const Recording& X, const ProgressCallback& progress, double from, double to, Sum& total,
                  const Add& add) {
  const Sum zero = total;
  const auto all = static_cast<double>(X.frames());  // asked now: a reading may change what is known
  const auto source = X.read();
  std::mutex reading;  // guards source and these
  Index chunks = 0;
  std::int64_t before = 0;
  bool over = false;
  std::mutex merging;  // guards total and these
  std::condition_variable turn;
  Index merged = 0;
  std::exception_ptr error;

  const auto take_turns = [&] {
    Matrix<double> chunk(X.channels(), X.chunk_frames());
    for (;;) {
      Index mine = 0;
      Index frames = 0;
      std::int64_t start = 0;
      std::exception_ptr wrong;
      {
        const std::scoped_lock lock(reading);
        if (over) return;
        mine = chunks++;
        start = before;
        try {
          frames = source->next(chunk);
        } catch (...) {
          wrong = std::current_exception();
        }
        before += frames;
        over = wrong || frames == 0;
      }
      if (!wrong && frames == 0) return;
      Sum sum = zero;
      try {
        if (!wrong) add(sum, Frames<double>(chunk.leftCols(frames)), start);
      } catch (...) {
        wrong = std::current_exception();
      }
      std::unique_lock lock(merging);
      turn.wait(lock, [&] { return merged == mine || error; });
      if (error) return;
      try {
        if (wrong) std::rethrow_exception(wrong);
        total.merge(sum);
        if (progress && all > 0) {
          progress(from + (to - from) * std::min(1.0, static_cast<double>(start + frames) / all));
        }
      } catch (...) {
        error = std::current_exception();
      }
      ++merged;
      turn.notify_all();
    }
  };
  const auto work = [&] {
    try {
      take_turns();
    } catch (...) {  // no memory
      const std::scoped_lock lock(merging);
      error = std::current_exception();
      turn.notify_all();
    }
  };
  {
    constexpr Index most = 16;
    const Index cores = std::max(1U, std::thread::hardware_concurrency());
    const Index worth = X.frames() > 0 ? X.frames() / (4 * X.chunk_frames()) : most;
    std::vector<std::jthread> others;
    for (Index k = 1; k < std::min({most, cores, worth}); ++k) others.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

}  // namespace demix
