#include "inputs.hpp"

#include <fmt/format.h>

#include "console.hpp"
#include "demix/signal_stream.hpp"
#include "standard_input.hpp"

namespace demix::cli {

void add_inputs(Arguments& command, Inputs& inputs, const std::string& what, const std::string& name,
                bool is_required) {
  Option files =
      command
          .option(name, inputs.files,
                  fmt::format(
                      "{}. Several files are read as the channels of one recording (see --join). Files: {}",
                      what, io::extensions_text()))
          .value("FILE");
  if (is_required) files.required();
  command
      .option("--join", inputs.join,
              "How to combine several files: as channels of one recording, or one after the other in time "
              "(frames)")
      .one_of({"channels", "frames"})
      .show_default();
  command
      .option(
          "--format", inputs.format,
          "Format of standard input (default text or WAV, by how it begins); f32, f64, s16 and s32 are raw "
          "numbers")
      .one_of(io::encoding_names());
  add_read_options(command, inputs);
}

void save_standard_input(Inputs& inputs) {
  inputs.typed = inputs.files;
  bool any = false;
  for (std::string& file : inputs.files) {
    if (file != "-") continue;
    file = saved_standard_input(inputs.format).string();
    any = true;
  }
  if (!any && !inputs.format.empty()) throw UsageError("--format is of standard input: name it with -");
}

void add_read_options(Arguments& command, Inputs& inputs) {
  const std::string group = "Reading files that lack a header";
  command
      .option("--channels", inputs.read.channels, "Number of channels of raw files (.f32, .f64, .s16, .s32)")
      .range(1, 8192)
      .group(group);
  command.option("--rate", inputs.read.rate, "Sampling rate in Hz, if the file does not give it")
      .value("HZ")
      .positive()
      .group(group);
  command
      .option("--variable", inputs.read.variable,
              "Name of the array to read, if a .npz or .mat file holds several")
      .value("NAME")
      .named()
      .group(group);
  command
      .option("--time-column", inputs.read.time_column,
              "Text files: number of the column that holds the time, from 1; 0 = no time column. If rows are "
              "channels, number of the row (default the first, if it increases in even steps)")
      .range(0, 1 << 20)
      .group(group);
  command.option("--delimiter", inputs.delimiter, "Text files: separator of the columns (default: detected)")
      .one_of({"comma", "semicolon", "tab", "blank"})
      .group(group);
  command
      .option(
          "--orientation", inputs.orientation,
          "What a row of an array or text file is (default channels if there are fewer rows than columns, "
          "else frames). Raw files: whether frames or channels are stored one after the other (default "
          "frames)")
      .one_of({"frames", "channels"})
      .group(group);
  command
      .option("--colour", inputs.colour,
              "Read colour pictures as one grey channel, or as one channel per colour plane")
      .one_of({"grey", "planes"})
      .show_default()
      .group(group);
}

io::ReadOptions read_options(const Inputs& how) {
  io::ReadOptions read = how.read;
  read.planes = how.colour == "planes";
  if (!how.delimiter.empty()) {
    read.delimiter = how.delimiter == "comma"       ? ','
                     : how.delimiter == "semicolon" ? ';'
                     : how.delimiter == "tab"       ? '\t'
                                                    : ' ';
  }
  if (!how.orientation.empty()) {
    read.orientation = how.orientation == "frames" ? io::Orientation::frames : io::Orientation::channels;
  }
  return read;
}

io::FileRecording open(const Inputs& inputs, io::FileUse use) {
  return open(inputs, inputs.files, std::move(use));
}

io::FileRecording open(const Inputs& how, const std::vector<std::string>& files, io::FileUse use) {
  io::FileRecording recording({files.begin(), files.end()}, read_options(how),
                              how.join == "frames" ? io::Join::frames : io::Join::channels);
  io::require_different_files(use.also_reads(recording.files()));
  for (const std::string& note : recording.info().notes) message("note: {}", as_typed(note));
  return recording;
}

}  // namespace demix::cli
