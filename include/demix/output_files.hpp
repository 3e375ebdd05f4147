#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demix/recording.hpp"
#include "demix/signal_files.hpp"

/// Signals on their way to files: which files, and in which scale.
namespace demix::io {

/// How a channel was scaled for a kind of file: written = gain * value + offset.
struct Scaling {
  double gain = 1, offset = 0;
};
/// Sources have no scale of their own. In sound files each peaks at 0.9 of full scale; a picture goes from
/// black to white. Other files hold them as they are: the list is empty.
std::vector<Scaling> source_scaling(Kind kind, const std::vector<ValueRange>& ranges);
bool is_scaled(Kind kind);

/// Of each channel: a pass over the recording, if this kind of file needs to know; else zeros.
std::vector<ValueRange> value_ranges(Kind kind, const Recording& recording);

/// What is known of the sources of a recording.
SignalInfo source_info(const SignalInfo& mixtures, Index sources);

/// That of `input`; of a kind that is only read, of one that holds its rate and names.
std::string written_extension(const std::filesystem::path& input);

/// Where signals go that came from a file like `input`: FOLDER/STEMs.EXT or, where each gets a file of its
/// own (sound, pictures), the pattern FOLDER/STEM.EXT for output_paths().
std::filesystem::path output_path(const std::filesystem::path& input, const std::filesystem::path& folder,
                                  const std::string& stem);

/// One file for each channel if `each`, else one for all: names by the pattern DIR/STEM.EXT, DIR/STEM3.EXT.
std::vector<std::filesystem::path> output_paths(const std::filesystem::path& path, Index channels, bool each);

/// Of the files that are there now, those that output_paths() may name, for whatever number of channels.
std::vector<std::filesystem::path> possible_paths(const std::filesystem::path& path, bool each);

/// Writes the recording, scaled (if `scaling` is not empty), into one file or one for each channel.
void write_recording(NewFiles& files, const std::vector<std::filesystem::path>& paths, const SignalInfo& info,
                     const Recording& recording, std::vector<ValueRange> ranges,
                     const std::vector<Scaling>& scaling = {});

/// Whether the ranks of a job can write the recording into one file side by side: it has shares, and each
/// frame has its place in such a file (raw numbers, .npy).
bool is_written_by_all_ranks(const std::filesystem::path& path, const MappedRecording& recording);
/// The same bytes as write_recording(), by all ranks, each of which has to call it. The first adds the file
/// to `files`, and writes all of it if another does not see it, for want of a common file system. When it
/// returns, all is written.
void write_by_all_ranks(NewFiles& files, const std::filesystem::path& path, const SignalInfo& info,
                        const MappedRecording& recording);

/// Makes the folder (and its parents). Throws Error if a file has that name or it cannot be written to.
void make_folder(const std::filesystem::path& folder);

}  // namespace demix::io
