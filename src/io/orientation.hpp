#pragma once

#include <cstdint>
#include <string>

#include "demix/signal_files.hpp"

/// Which side of a matrix is time.
namespace demix::io {

/// A recording has more frames than channels, so that fewer rows than columns are channels.
inline bool rows_are_channels(std::uint64_t rows, std::uint64_t columns, Orientation asked) {
  return asked == Orientation::automatic ? rows < columns : asked == Orientation::channels;
}

/// What the user is to know where that was decided; nothing where there is one channel only.
inline void note_channel_rows(SignalInfo& info, std::uint64_t rows, std::uint64_t columns, Orientation asked,
                              const std::string& name) {
  if (asked != Orientation::automatic || rows < 2 || rows >= columns) return;
  info.notes.push_back(name + ": has " + std::to_string(rows) + " rows and " + std::to_string(columns) +
                       " columns; the rows are taken as channels, as they are fewer; " +
                       "give `orientation = frames` if they are frames");
}

/// Their covariance, and what is computed from it, must fit into memory.
constexpr std::uint64_t most_channels = 8192;
inline void require_channels(std::uint64_t channels, const std::string& name) {
  if (channels <= most_channels) return;
  throw Error(name + ": " + std::to_string(channels) + " channels are too many; at most " +
              std::to_string(most_channels) +
              " are read, as the covariance of more would not fit into memory; choose some of them" +
              ", or tell what rows are with `orientation`");
}

}  // namespace demix::io
