#include "core/ranks.hpp"

#include <algorithm>

namespace demix {
namespace {
Ranks* all = nullptr;
}  // namespace

Ranks* ranks() { return all; }
void set_ranks(Ranks* ranks) { all = ranks; }

ChunkShare share_of(Index chunks, Index rank, Index ranks) {
  Index unit = 1;
  while (32 * unit * ranks <= chunks) unit *= 2;
  const Index units = (chunks + unit - 1) / unit;
  const auto boundary = [&](Index r) { return std::min(chunks, r * units / ranks * unit); };
  return {boundary(rank), boundary(rank + 1)};
}

std::string all_gathered(Ranks& ranks, std::string bytes) {
  for (Index step = 1; step < ranks.count(); step *= 2) {
    if (ranks.rank() % (2 * step) == step) {
      ranks.send(ranks.rank() - step, bytes);
      break;
    }
    if (ranks.rank() + step < ranks.count()) bytes += ranks.receive(ranks.rank() + step);
  }
  ranks.broadcast(bytes);
  return bytes;
}

}  // namespace demix
