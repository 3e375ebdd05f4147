#include "inputs.hpp"

#include <fmt/format.h>

#include "console.hpp"

namespace demix::cli {

void add_inputs(Arguments& command, Inputs& inputs, const std::string& what, const std::string& name) {
  command
      .option(name, inputs.files,
              fmt::format("{}: {}. Several files: their channels together", what, io::extensions_text()))
      .required();
  add_read_options(command, inputs);
}

void add_read_options(Arguments& command, Inputs& inputs) {
  const std::string group = "What a file may leave open";
  command.option("--channels", inputs.read.channels, "Raw numbers (.f32, .f64): how many channels")
      .range(1, 8192)
      .group(group);
  command.option("--rate", inputs.read.rate, "Frames per second, where the file does not say")
      .positive()
      .group(group);
  command.option("--variable", inputs.read.variable, "Archives (.npz, .mat): which array")
      .named()
      .group(group);
  command
      .option("--time-column", inputs.read.time_column,
              "Text: the column (or the row, where rows are channels) that is the time, from 1; 0: none "
              "(default: the "
              "first, if it counts up evenly)")
      .range(0, 1 << 20)
      .group(group);
  command.option("--delimiter", inputs.delimiter, "Text: what separates columns (default: found)")
      .one_of({"comma", "semicolon", "tab", "blank"})
      .group(group);
  command
      .option("--orientation", inputs.orientation,
              "Arrays and text: what a row is; raw numbers: what follows each other (default: channels where "
              "there are fewer rows than columns, else frames)")
      .one_of({"frames", "channels"})
      .group(group);
  command
      .option("--colour", inputs.colour, "Colour pictures: as one grey channel, or a channel for each plane")
      .one_of({"grey", "planes"})
      .show_default()
      .group(group);
}

io::FileRecording open(const Inputs& inputs) { return open(inputs, inputs.files); }

io::FileRecording open(const Inputs& how, const std::vector<std::string>& files) {
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
  io::FileRecording recording({files.begin(), files.end()}, read);
  for (const std::string& note : recording.info().notes) message("note: {}", as_typed(note));
  return recording;
}

}  // namespace demix::cli
