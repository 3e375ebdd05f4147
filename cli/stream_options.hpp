#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demix/filters.hpp"
#include "demix/signal_files.hpp"
#include "demix/stream_separator.hpp"

namespace demix::cli {

/// What `demix stream` is asked for.
struct StreamArguments {
  std::string input = "-";
  std::string output = "-";
  std::string format;
  std::string output_format;
  Index channels = 0;
  double rate = 0;
  std::string learn = "one-pass";
  std::string weight = "square";
  std::optional<double> track;  // seconds
  std::string start;
  bool freeze = false;
  std::vector<std::string> pick, exclude;
  FilterOptions filters;
  bool filter_output = false;
  std::vector<Index> remove;  // outputs, from 1; 0 alone: none yet
  std::string model;
  std::string state;
  std::string trace;
  Index save_every = 100000;
  double status = 0;
  bool json = false;
  bool realtime = false;
  std::optional<std::string> page;  // where; "" = the default address
  std::string title;                // of the page; "" = the input
  StreamOptions stream;

  bool writes_channels() const { return !remove.empty(); }  // else sources
  bool only_applies() const { return freeze && stream.saturation == 0; }
  std::vector<Index> muted() const;  // outputs, from 0
};

std::string input_name(const StreamArguments& o);
/// Nothing: a file of a kind that cannot be streamed.
std::optional<io::Encoding> input_encoding(const StreamArguments& o);
std::string output_name(const StreamArguments& o);
/// By its name, or as the input (f32 for files that cannot be streamed). Sources of whole numbers are floats,
/// unless whole numbers are asked for.
io::Encoding output_encoding(const StreamArguments& o, std::optional<io::Encoding> input);
/// Sources have unit variance. Sound (s16, s32, WAV) has a full scale, 1, which is that of 16 standard
/// deviations then. Channels (--remove) stay in their units.
double output_gain(const StreamArguments& o, io::Encoding output);

/// Before any work: options that do not go together; what is written replaces nothing that is read, and can
/// be written at the end. `input` and `asked` are those of the input. Throws UsageError, io::FileConflict and
/// Failure.
void check_arguments(const StreamArguments& o, std::optional<io::Encoding> input,
                     const io::ReadOptions& asked);

/// The model of --start, for a stream with so many channels and outputs.
Model start_model(const StreamArguments& o, Index channels, Index outputs);

/// The channels to learn from: those of --pick, of the model of --start, or of a file as `fit` chooses them.
/// `kind`: nothing = a stream.
std::vector<Index> picked_channels(const StreamArguments& o, const io::SignalInfo& info,
                                   std::optional<io::Kind> kind);

}  // namespace demix::cli
