#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demix/model.hpp"
#include "demix/signal_files.hpp"

/// What comes out of a recording, on its way to files.
namespace demix::cli {

/// How a channel was scaled for a kind of file: written = gain * value + offset.
struct Scaling {
  double gain = 1, offset = 0;
};
/// Sources have no scale of their own: in sound each is made as loud as it can be, a picture goes from black
/// to white. Elsewhere they stay as they are: none.
std::vector<Scaling> scaling_of_sources(io::Kind kind, const std::vector<io::Range>& ranges);
bool is_scaled(io::Kind kind);

/// A pass over it, if this kind of file needs to know; else zeros.
std::vector<io::Range> ranges_for(io::Kind kind, const Recording& recording);

/// What is known of the sources of a recording.
io::Facts facts_of_sources(const io::Facts& facts, Index sources);

/// One file for each channel if `each`, else one for all: names by the pattern DIR/STEM.EXT, DIR/STEM3.EXT.
std::vector<std::filesystem::path> output_paths(const std::filesystem::path& path, Index channels, bool each);

/// Of the files that are there now, those that output_paths() may name, for whatever number of channels.
std::vector<std::filesystem::path> possible_paths(const std::filesystem::path& path, bool each);

/// Writes the recording, scaled (if `scaling` is not empty), into one file or one for each channel.
void write_recording(io::NewFiles& files, const std::vector<std::filesystem::path>& paths,
                     const io::Facts& facts, const Recording& recording, std::vector<io::Range> ranges,
                     const std::vector<Scaling>& scaling = {});

}  // namespace demix::cli
