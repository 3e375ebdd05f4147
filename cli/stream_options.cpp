#include "stream_options.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>

#include "arguments.hpp"
#include "console.hpp"
#include "demix/file_use.hpp"
#include "demix/signal_stream.hpp"
#include "demix/trace_files.hpp"
#include "files/chosen_channels.hpp"
#include "stream_state.hpp"

namespace demix::cli {

std::vector<Index> StreamArguments::muted() const {
  std::vector<Index> which;
  for (const Index k : remove) {
    if (k > 0) which.push_back(k - 1);
  }
  std::ranges::sort(which);
  which.erase(std::unique(which.begin(), which.end()), which.end());
  return which;
}

std::string input_name(const StreamArguments& o) { return o.input == "-" ? "standard input" : o.input; }

std::string output_name(const StreamArguments& o) { return o.output == "-" ? "standard output" : o.output; }

std::optional<io::Encoding> input_encoding(const StreamArguments& o) {
  if (!o.format.empty()) return io::encoding_named(o.format);
  const std::optional<io::Encoding> encoding = o.input == "-" ? std::nullopt : io::encoding_of(o.input);
  if (encoding || (o.input != "-" && io::is_supported(o.input))) return encoding;
  throw UsageError(fmt::format(
      "{}: the format is not known; give --format f32, f64, s16, s32, wav, csv or tsv", input_name(o)));
}

io::Encoding output_encoding(const StreamArguments& o, std::optional<io::Encoding> from) {
  if (!o.output_format.empty()) return io::encoding_named(o.output_format);
  io::Encoding input = from.value_or(io::Encoding::f32);
  if (!o.writes_channels() && input == io::Encoding::s16) input = io::Encoding::f32;
  if (!o.writes_channels() && input == io::Encoding::s32) input = io::Encoding::f64;
  if (o.output == "-") return input;
  if (const std::optional<io::Encoding> encoding = io::encoding_of(o.output)) return *encoding;
  if (!io::is_supported(o.output)) return input;
  throw UsageError(
      fmt::format("{}: stream writes .f32, .f64, .s16, .s32, .wav, .csv or .tsv, not {}; name it so, or give "
                  "--output-format",
                  o.output, io::format_of(o.output).name));
}

double output_gain(const StreamArguments& o, io::Encoding output) {
  const bool sound =
      output == io::Encoding::s16 || output == io::Encoding::s32 || output == io::Encoding::wav;
  return sound && !o.writes_channels() ? 1.0 / 16 : 1;
}

namespace {

// What is written at the end must not fail for want of a folder then.
void require_writable(const std::string& name) {
  if (name.empty()) return;
  const auto folder = std::filesystem::absolute(name).parent_path();
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Failure(fmt::format("{}: cannot write there: {}", name, std::strerror(errno)));
  }
}

}  // namespace

void check_arguments(const StreamArguments& o, std::optional<io::Encoding> input,
                     const io::ReadOptions& asked) {
  io::FileUse use{{o.input}, {o.output, o.model, o.state, StateLock::file_for(o.state)}};
  if (!input) use.also_reads_signals(o.input, asked);  // it may have files beside it
  io::require_different_files(use.also_reads_model(o.start).also_writes(trace_paths(o.trace)));
  require_writable(o.model);
  require_writable(o.trace);
  require_writable(o.state);
  const bool one_pass = learn_named(o.learn) == StreamOptions::Learn::one_pass;
  if (input && *input <= io::Encoding::s32 && o.channels == 0)
    throw UsageError("raw input does not say how many channels it has; give --channels");
  if (o.freeze && o.start.empty()) throw UsageError("--freeze goes with --start");
  if (o.json && o.status == 0 && !o.page) throw UsageError("--json needs --status SECONDS or --page");
  if (!o.start.empty() && !one_pass) throw UsageError("--start: only with --learn one-pass");
  if (o.writes_channels() && !one_pass) throw UsageError("--remove: only with --learn one-pass");
  if (o.filters.any() && !one_pass)
    throw UsageError("--highpass, --lowpass, --notch: only with --learn one-pass");
  if (o.filter_output && !o.filters.any())
    throw UsageError("--filter-output goes with --highpass, --lowpass or --notch");
  if (!o.trace.empty() && one_pass)
    throw UsageError("--trace: only with --learn replay or frame, which are networks");
  if (std::ranges::find(o.remove, 0) != o.remove.end() && o.remove.size() > 1)
    throw UsageError("--remove: 0 means none yet, and stands alone");
}

Model start_model(const StreamArguments& o, Index channels, Index outputs) {
  Model model = io::load_model(o.start);
  if (model.channels() != channels) {
    throw UsageError(fmt::format("{}: has {} channels, the model {} needs {}", input_name(o), channels,
                                 o.start, model.channels()));
  }
  if (model.components() > outputs) {
    throw UsageError(
        fmt::format("--components: the model {} has {}, not {}", o.start, model.components(), outputs));
  }
  return model;
}

std::vector<Index> picked_channels(const StreamArguments& o, const io::SignalInfo& info,
                                   std::optional<io::Kind> kind) {
  try {
    const bool is_chosen = !o.pick.empty() || !o.exclude.empty();
    if (!is_chosen && !o.start.empty()) {
      const Model model = io::load_model(o.start);
      if (model.channels() < info.channels && !model.names.empty())
        return channels_of_model(model, info, input_name(o));
      return chosen_channels(info, io::Kind::numbers, {"all"}, {});
    }
    return chosen_channels(info, kind.value_or(io::Kind::numbers), o.pick, o.exclude);
  } catch (const std::invalid_argument& e) {
    const std::string what = e.what();
    throw UsageError(what.starts_with("pick:") || what.starts_with("exclude:") ? "--" + what : what);
  }
}

}  // namespace demix::cli
