#pragma once

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "demix/recording.hpp"

/// Sums over a recording on all cores.
namespace demix {

/// Goes over X in chunks of the same number of frames. For each, on some thread, a copy of `zero` is made and
/// add(sum, chunk, frames before it) called; then, in the order of the chunks, total.merge(sum). So the
/// result does not depend on the number of threads. What add throws is thrown, the first in order.
template <typename Sum, typename Add>
class ParallelSum {
 public:
  /// `frames`: of the recording, 0 if not known. Little work is done without other threads.
  ParallelSum(Sum& total, const Add& add, Index frames) : total_(total), zero_(total), add_(add) {
    constexpr Index most = 16;
    const Index cores = std::thread::hardware_concurrency();
    const Index workers = std::min({most, cores, frames > 0 ? frames / (4 * chunk_frames) : most});
    for (Index k = 0; workers > 1 && k < workers; ++k) workers_.emplace_back([this] { work(); });
  }
  ~ParallelSum() {
    {
      const std::scoped_lock lock(mutex_);
      over_ = true;
    }
    wake_.notify_all();
  }
  ParallelSum(const ParallelSum&) = delete;
  ParallelSum& operator=(const ParallelSum&) = delete;

  void add(const Frames<double>& block) {
    for (Index start = 0; start < block.cols();) {
      if (filling_.cols() == 0) filling_.resize(block.rows(), chunk_frames);
      const Index now = std::min(chunk_frames - filled_, block.cols() - start);
      filling_.middleCols(filled_, now) = block.middleCols(start, now);
      filled_ += now;
      start += now;
      if (filled_ == chunk_frames) hand_out();
    }
  }

  void finish() {
    if (filled_ > 0) hand_out();
    std::unique_lock lock(mutex_);
    while (!jobs_.empty()) take_in(lock);
  }

 private:
  static constexpr Index chunk_frames = 4096;

  struct Job {
    Matrix<double> chunk;
    Index frames;
    std::int64_t before;
    Sum sum;
    bool taken = false, done = false;
    std::exception_ptr error;
  };

  void hand_out() {
    if (workers_.empty()) {
      Sum sum = zero_;
      add_(sum, Frames<double>(filling_.leftCols(filled_)), before_);
      total_.merge(sum);
      before_ += std::exchange(filled_, 0);
      return;
    }
    std::unique_lock lock(mutex_);
    while (jobs_.size() >= 2 * workers_.size()) take_in(lock);
    jobs_.push_back({std::move(filling_), filled_, before_, zero_, false, false, {}});
    if (!spare_.empty()) {
      filling_ = std::move(spare_.back());
      spare_.pop_back();
    }
    before_ += std::exchange(filled_, 0);
    lock.unlock();
    wake_.notify_one();
  }

  // The first of the jobs, once it is done.
  void take_in(std::unique_lock<std::mutex>& lock) {
    ready_.wait(lock, [&] { return jobs_.front().done; });
    Job job = std::move(jobs_.front());
    jobs_.pop_front();
    if (job.error) std::rethrow_exception(job.error);
    total_.merge(job.sum);
    spare_.push_back(std::move(job.chunk));
  }

  void work() {
    std::unique_lock lock(mutex_);
    for (;;) {
      Job* mine = nullptr;
      wake_.wait(lock, [&] {
        const auto at = std::find_if(jobs_.begin(), jobs_.end(), [](const Job& j) { return !j.taken; });
        mine = at == jobs_.end() ? nullptr : &*at;
        return over_ || mine != nullptr;
      });
      if (over_) return;
      mine->taken = true;
      lock.unlock();
      try {
        add_(mine->sum, Frames<double>(mine->chunk.leftCols(mine->frames)), mine->before);
      } catch (...) {
        mine->error = std::current_exception();
      }
      lock.lock();
      mine->done = true;
      ready_.notify_all();
    }
  }

  Sum& total_;
  const Sum zero_;
  const Add& add_;
  Matrix<double> filling_;
  Index filled_ = 0;
  std::int64_t before_ = 0;
  std::vector<Matrix<double>> spare_;
  std::mutex mutex_;
  std::condition_variable wake_, ready_;
  std::deque<Job> jobs_;  // references stay: only its ends change
  bool over_ = false;
  std::vector<std::jthread> workers_;  // last, so that they end first
};

template <typename Sum, typename Add>
void parallel_sum(const Recording& X, const ProgressCallback& progress, double from, double to, Sum& total,
                  const Add& add) {
  ParallelSum<Sum, Add> sum(total, add, X.frames());
  pass(X, progress, from, to, [&](const Frames<double>& block) { sum.add(block); });
  sum.finish();
}

}  // namespace demix
