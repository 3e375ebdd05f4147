#pragma once

#include <string>
#include <string_view>

#include "demix/types.hpp"

/// Processes that share the passes over a recording: each computes the sums over its own chunks, all of them
/// get the total. Every process runs the same program on the same data.
namespace demix {

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual Index rank() const = 0;   ///< of this process, from 0
  virtual Index count() const = 0;  ///< of all
  virtual void send(Index to, std::string_view bytes) = 0;
  virtual std::string receive(Index from) = 0;
  virtual void broadcast(std::string& bytes) = 0;  ///< those of rank 0 to all
};

/// Those this process is one of; null: it is alone.
Ranks* ranks();
void set_ranks(Ranks* ranks);  ///< before the first pass

/// Whether this process writes files: it is alone, or the first of its ranks.
inline bool is_first_rank() { return !ranks() || ranks()->rank() == 0; }

/// Chunks from `first` up to, but not with, `end`.
struct ChunkShare {
  Index first = 0, end = 0;
};
/// What each rank computes of so many chunks. A share begins at a multiple of a power of two, so that few
/// subtrees of the sum (core/sum_tree.hpp) are split; shares differ by 1/16 at most.
ChunkShare share_of(Index chunks, Index rank, Index ranks);

/// The bytes of all ranks one after the other, in their order, on every rank.
std::string all_gathered(Ranks& ranks, std::string bytes);

}  // namespace demix
