#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/ranks.hpp"

namespace demix {

/// The ranks of an MPI job. One object, made in main() before anything else.
class MpiRanks final : public Ranks {
 public:
  MpiRanks(int& argc, char**& argv);
  ~MpiRanks() override;
  MpiRanks(const MpiRanks&) = delete;
  MpiRanks& operator=(const MpiRanks&) = delete;

  Index rank() const override { return rank_; }
  Index count() const override { return count_; }
  void send(Index to, std::string_view bytes) override;
  std::string receive(Index from) override;
  void broadcast(std::string& bytes) override;

  /// Of each rank on this host its text, all of one length; and which of them is this rank.
  struct OnHost {
    std::vector<std::string> texts;
    std::size_t own = 0;
  };
  OnHost on_this_host(const std::string& text) const;

  struct Traffic {
    std::int64_t messages = 0;
    std::int64_t bytes = 0;
    double seconds = 0;  ///< in send, receive and broadcast, waiting for others with it
  };
  const Traffic& traffic() const { return traffic_; }  ///< of this rank

  /// Whether all ranks come here within so many seconds; then `code` is the highest of theirs, and
  /// `told_by` the first rank that has it.
  bool ends_with_all(int& code, Index& told_by, double seconds);
  /// Ends the processes of all ranks. Does not return.
  [[noreturn]] void abort(int code);

 private:
  struct Handles;
  Index rank_ = 0, count_ = 1;
  Traffic traffic_;
  Handles* handles_;
};

}  // namespace demix
