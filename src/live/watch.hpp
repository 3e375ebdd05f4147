#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "demix/live_page.hpp"
#include "live/assessment.hpp"
#include "live/frame_ring.hpp"
#include "live/history.hpp"
#include "online/reservoir.hpp"

namespace demix::live {

/// What the page has the stream do. The stream's thread reads it without waiting.
class WishBoard {
 public:
  explicit WishBoard(const PageOptions& options);
  bool take(Wishes& wishes) noexcept;  ///< the stream's thread; false if nothing changed
  void mute(Index output, bool on);
  void freeze(bool on);
  bool muted(Index output) const { return muted_[static_cast<std::size_t>(output)]; }
  bool frozen() const { return frozen_; }

 private:
  std::vector<std::atomic<bool>> muted_;
  std::atomic<bool> frozen_;
  std::atomic<unsigned> version_{0};
  unsigned taken_ = 0;
};

/// All that the page knows of the stream, for threads that answer browsers.
class Watch {
 public:
  /// Frames show the first channels and outputs only.
  static constexpr Index most_shown = 256;

  explicit Watch(const PageOptions& options);

  // The page's own thread.
  bool drain(FrameRing& ring);  ///< some frames; false if there were none
  void take(const Snapshot& snapshot);

  // Any thread.
  const PageOptions& options() const { return options_; }
  Index rows() const { return channels_shown_ + outputs_shown_; }
  std::int64_t end() const;
  History::Columns columns(std::int64_t from, std::int64_t step, Index count, Index first, Index rows) const;
  std::string status();              ///< JSON
  std::string output(Index output);  ///< JSON: channel weights and spectrum
  Model model();                     ///< throws std::invalid_argument if nothing is separated yet
  void add_names(Model& model, const Matrix<double>& unmixing) const;

  // What a person does. Each throws std::invalid_argument if it cannot be done; else tells, and returns JSON.
  std::string mute(Index output, bool on);
  std::string freeze(bool on);
  std::string rename(Index output, const std::string& name);
  std::string mark(const std::string& text);
  std::string save();
  WishBoard& wishes() { return wishes_; }

  /// Events after number `last`, which becomes that of the last one. Waits until there are any, but no longer
  /// than so long. Each is JSON.
  std::vector<std::string> events(std::uint64_t& last, std::chrono::milliseconds longest);
  std::uint64_t last_event() const;
  void finish();  ///< the stream is over: wakes those who wait
  bool ended() const { return ended_; }

 private:
  using Clock = std::chrono::steady_clock;
  std::string done(nlohmann::ordered_json action, const std::string& line);
  std::int64_t now() const;
  std::string name_of(Index output) const;
  void require_output(Index output) const;
  const Assessment& assessment();

  const PageOptions options_;
  const Index channels_shown_, outputs_shown_;
  WishBoard wishes_;
  std::atomic<bool> ended_{false};

  mutable std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  History history_;
  Reservoir sample_;
  Vector<double> frame_;
  CausalFilter filter_;         // of what is sampled, as of what the stream learns from
  std::int64_t filtered_ = -1;  // the last frame that went through it
  Snapshot snapshot_;
  std::vector<std::string> output_names_;
  struct Mark {
    std::int64_t frame;
    std::string text;
  };
  std::deque<Mark> marks_;
  std::deque<std::int64_t> changes_;
  std::deque<std::string> events_;
  std::uint64_t event_count_ = 0;
  std::deque<std::pair<Clock::time_point, std::int64_t>> speed_;

  std::mutex assessing_;  // of what follows
  Assessment assessment_;
  Clock::time_point next_assessment_{};
};

}  // namespace demix::live
