#pragma once

#include "io/format_files.hpp"

/// Text with one channel per line, frame after frame in it.
namespace demix::io {

/// Opens it if it is that: by what is asked or, where that is nothing, if there are fewer lines than columns.
/// Null: a line is a frame. A line of names is above columns, which then are channels. `delimiter` 0: found.
Reader open_channel_lines(const Path& file, char delimiter, Orientation asked);

}  // namespace demix::io
