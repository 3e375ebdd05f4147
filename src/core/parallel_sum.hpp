#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <map>
#include <mutex>
#include <thread>
#include <vector>

#include "core/ranks.hpp"
#include "demix/recording.hpp"
#include "demix/threads.hpp"

namespace demix {

/// The chunks of a recording for several threads: each is read by one of them, all at once if it has random
/// access, else in turns.
class SharedReading {
 public:
  explicit SharedReading(const Recording& X)
      : X_(X),
        random_access_(X.random_access()),
        end_(X.frames()),
        source_(random_access_ ? nullptr : X.read()) {}

  /// Only some chunks of a recording with random access.
  SharedReading(const Recording& X, const ChunkShare& share)
      : X_(X),
        random_access_(true),
        end_(std::min(X.frames(), share.end * X.chunk_frames())),
        chunks_(share.first),
        before_(share.first * X.chunk_frames()) {}

  Index first() const { return first_; }  ///< chunk

  struct Chunk {
    Index number = 0;
    std::int64_t before = 0;  ///< frames
    Index frames = 0;         ///< 0: there are no more
  };
  /// use(view of the next one); `chunk` is told first, also if reading throws.
  template <typename Use>
  void next(Chunk& chunk, FrameBuffer& buffer, const Use& use) {
    {
      const std::scoped_lock lock(mutex_);
      chunk = {chunks_++, before_, 0};
      if (over_) return;
      if (random_access_) {
        chunk.frames = std::max<Index>(0, std::min<Index>(X_.chunk_frames(), end_ - before_));
        before_ += chunk.frames;
      } else {
        over_ = true;  // unless it goes well
        buffer.doubles.resize(X_.channels(), X_.chunk_frames());
        chunk.frames = source_->next(buffer.doubles);
        before_ += chunk.frames;
        over_ = chunk.frames == 0;
      }
      if (chunk.frames == 0) return;
    }
    if (random_access_) {
      use(X_.frames_at(chunk.before, chunk.frames, buffer));
    } else {
      use(Frames<double>(buffer.doubles.leftCols(chunk.frames)));
    }
  }

 private:
  const Recording& X_;
  const bool random_access_;
  const Index end_;
  std::mutex mutex_;  // guards what follows
  std::unique_ptr<Recording::Reading> source_;
  Index chunks_ = 0;
  const Index first_ = chunks_;
  std::int64_t before_ = 0;
  bool over_ = false;
};

/// Work on the chunks of a recording, on all cores. For each chunk a thread makes a copy of `zero`, calls
/// add(copy, chunk, frames before it), and, in the order of the chunks, take(number, copy). What reading, add
/// or take throws is thrown, the first in order.
template <typename Sum, typename Add, typename Take>
void parallel_chunks(const Recording& X, SharedReading& source, Index chunks, const Sum& zero, const Add& add,
                     const Take& take) {
  struct Part {
    Sum sum;
    std::exception_ptr wrong;
  };
  const Index most = std::min<Index>(16, thread_limit());
  const Index threads = std::max<Index>(1, std::min(most, X.frames() > 0 ? chunks / 2 : most));

  std::mutex merging;  // guards what take() changes, and these
  std::condition_variable moved;
  std::map<Index, Part> waiting;  // for those before them
  Index merged = source.first();
  std::exception_ptr error;

  // Under the lock: whatever has its turn.
  const auto merge = [&] {
    while (!error && !waiting.empty() && waiting.begin()->first == merged) {
      Part part = std::move(waiting.extract(waiting.begin()).mapped());
      const Index number = merged++;
      try {
        if (part.wrong) std::rethrow_exception(part.wrong);
        take(number, std::move(part.sum));
      } catch (...) {
        error = std::current_exception();
      }
    }
    moved.notify_all();
  };
  const auto work = [&] {
    try {
      FrameBuffer buffer;
      SharedReading::Chunk chunk;
      for (;;) {
        Part part{zero, {}};
        try {
          source.next(chunk, buffer, [&](const AnyFrames& frames) { add(part.sum, frames, chunk.before); });
        } catch (...) {
          part.wrong = std::current_exception();
        }
        if (chunk.frames == 0 && !part.wrong) return;
        std::unique_lock lock(merging);
        if (error) return;
        waiting.emplace(chunk.number, std::move(part));
        merge();
        // No thread gets far ahead of the slowest.
        moved.wait(lock, [&] { return error || std::ssize(waiting) < 2 * threads; });
        if (error) return;
      }
    } catch (...) {  // no memory
      const std::scoped_lock lock(merging);
      error = std::current_exception();
      moved.notify_all();
    }
  };
  {
    std::vector<std::jthread> others;
    for (Index k = 1; k < threads; ++k) others.emplace_back(work);
    work();
  }
  if (error) std::rethrow_exception(error);
}

/// total <- total + the sums over all chunks, one after the other: the same on any number of threads.
template <typename Sum, typename Add>
void parallel_sum(const Recording& X, Sum& total, const Add& add) {
  const Sum zero = total;
  const Index chunks = X.frames() / X.chunk_frames();  // asked now: a reading may change what is known
  SharedReading source(X);
  parallel_chunks(X, source, chunks, zero, add, [&](Index, const Sum& sum) { total.merge(sum); });
}

}  // namespace demix
