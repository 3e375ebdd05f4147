#pragma once

#include <utility>
#include <vector>

#include "core/pack.hpp"
#include "core/ranks.hpp"

namespace demix {

/// The sum over chunks 0, 1, 2, ... by a binary tree that depends on their numbers only:
///
///   S(l, k) = S(l - 1, 2k) + S(l - 1, 2k + 1),   S(0, k) = chunk k
///
/// What has no sibling at the end is added from the right: of 7 chunks, (0..3) + ((4..5) + 6). So any rank
/// can add up the subtrees of its own chunks, and the total is the same to the bit whoever had which.
template <typename Sums>
class SumTree {
 public:
  /// The chunks, or the subtrees, in their order.
  void add(Index level, Index number, Sums sums) {
    nodes_.push_back({level, number, std::move(sums)});
    while (nodes_.size() > 1) {
      Node& left = nodes_[nodes_.size() - 2];
      Node& right = nodes_.back();
      if (left.level != right.level || left.number % 2 != 0) break;
      left.sums.merge(right.sums);
      ++left.level;
      left.number /= 2;
      nodes_.pop_back();
    }
  }

  /// Of all that was added; `none` if nothing was.
  Sums total(const Sums& none) && {
    if (nodes_.empty()) return none;
    while (nodes_.size() > 1) {
      nodes_[nodes_.size() - 2].sums.merge(nodes_.back().sums);
      nodes_.pop_back();
    }
    return std::move(nodes_.back().sums);
  }

  /// The subtrees as bytes, for another process, and those of the neighbour on the right, added.
  std::string packed() {
    Packer packer;
    for (Node& node : nodes_) packer(node.level, node.number, node.sums);
    return packer.bytes;
  }
  void add_packed(std::string_view bytes, const Sums& none) {
    for (Unpacker unpacker(bytes); !unpacker.done();) {
      Node node{0, 0, none};
      unpacker(node.level, node.number, node.sums);
      add(node.level, node.number, std::move(node.sums));
    }
  }

  /// The total over the chunks of all ranks, on each of them. Neighbours join their subtrees first: a rank
  /// sends once, and rank 0 receives log2(ranks) times.
  Sums total_over(Ranks& ranks, const Sums& none) && {
    for (Index step = 1; step < ranks.count(); step *= 2) {
      if (ranks.rank() % (2 * step) == step) {
        ranks.send(ranks.rank() - step, packed());
        break;
      }
      if (ranks.rank() + step >= ranks.count()) continue;
      add_packed(ranks.receive(ranks.rank() + step), none);
    }
    Packer packer;
    Sums sums = none;
    if (ranks.rank() == 0) {
      sums = std::move(*this).total(none);
      packer(sums);
    }
    ranks.broadcast(packer.bytes);
    if (ranks.rank() != 0) {
      Unpacker unpacker(packer.bytes);
      unpacker(sums);
    }
    return sums;
  }

 private:
  struct Node {
    Index level, number;
    Sums sums;
  };
  std::vector<Node> nodes_;  // subtrees, left to right; none of them siblings
};

}  // namespace demix
