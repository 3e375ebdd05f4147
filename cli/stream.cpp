#include <unistd.h>

#include <memory>
#include <optional>

#include "commands.hpp"
#include "console.hpp"
#include "method_options.hpp"
#include "page_option.hpp"
#include "signals.hpp"
#include "stream_options.hpp"
#include "stream_session.hpp"
#include "stream_state.hpp"
#include "trace_option.hpp"

namespace demix::cli {
namespace {

using Options = StreamArguments;

// Whoever watches a stream on its page from a terminal need not name a file for its output.
void discard_unseen_output(Options& o) {
  if (!o.page || o.output != "-" || !o.output_format.empty() || ::isatty(STDOUT_FILENO) == 0) return;
  o.output = "/dev/null";
  message("what comes out is not kept; -o FILE writes it");
}

void run(Options o) {
  discard_unseen_output(o);
  const std::optional<io::Encoding> encoding = input_encoding(o);
  io::ReadOptions asked;
  asked.channels = o.channels;
  asked.rate = o.rate;
  check_arguments(o, encoding, asked);
  o.stream.learn = learn_named(o.learn);
  o.stream.weight = weight_named(o.weight);
  stop_in_order();
  const StateLock lock(o.state);
  try {
    run_session(o, encoding, asked);
  } catch (const io::Interrupted&) {  // before there was a frame
  }
}

}  // namespace

void apply_to_pipe(const PipedModel& piped) {
  Options o;
  o.output = piped.output;
  o.format = piped.format;
  o.channels = piped.channels;
  o.rate = piped.rate;
  o.start = piped.model;
  o.freeze = true;
  o.remove = piped.remove;
  run(o);
}

void watch_pipe(const WatchedPipe& piped) {
  Options o;
  o.output = "/dev/null";
  o.format = o.output_format = "f32";
  o.channels = piped.channels;
  o.rate = piped.rate;
  o.track = piped.track;
  o.page = piped.page;
  o.title = piped.title;
  run(o);
}

void add_stream(Program& program) {
  Arguments sub =
      program.command("stream", "Separate a live stream, frame by frame, from standard input or a file");
  auto o = std::make_shared<Options>();
  const std::vector<std::string> formats = io::encoding_names();
  sub.option("input", o->input, "File to read, - for standard input").show_default();
  sub.option("-o,--output", o->output, "File for the sources, - for standard output")
      .value("FILE")
      .show_default();
  sub.option("--format", o->format,
             "Format of the input; f32, f64, s16 and s32 are raw, interleaved, little-endian (default by the "
             "file name)")
      .one_of(formats);
  sub.option(
         "--output-format", o->output_format,
         "Format of the output (default: by the file name, else that of the input; f32 instead of s16, f64 "
         "instead of s32). As s16, s32 or wav, sources are divided by 16")
      .one_of(formats);
  sub.option("--channels", o->channels, "Number of channels of raw input").range(1, 4096);
  sub.option("--rate", o->rate, "Sampling rate in Hz, if the input does not give it").value("HZ").positive();
  sub.option("--components", o->stream.components,
             "Number of outputs: the strongest principal components (default one per channel)")
      .range(1, 4096);
  sub.option(
         "--track", o->track,
         "Follow a changing mixing: time constant of forgetting, in seconds (default: nothing is forgotten)")
      .value("SECONDS")
      .positive();
  const std::string learned = "Data to learn from";
  add_channel_choice(sub, o->pick, o->exclude, learned);
  add_filters(sub, o->filters, learned);
  sub.flag("--filter-output", o->filter_output,
           "Apply --highpass, --lowpass and --notch to the output, too (default: the output is that of the "
           "unfiltered frames)");
  sub.flag("--robust", o->stream.robust, "Do not learn from outlying frames");
  sub.option("--saturation", o->stream.saturation,
             "Do not learn from frames with a value of this magnitude or more (default: no limit)")
      .positive();
  sub.option("--learn", o->learn,
             "How to learn. one-pass: FastICA on running sums and a random sample of past frames; frames may "
             "come in any order. replay: the network (sm-ica), trained on random frames of the last 16384. "
             "frame: the network, trained on the current frame; needs frames in random order")
      .one_of({"one-pass", "replay", "frame"})
      .show_default();
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  sub.option("--activity-weight", o->weight,
             "Modulator of the network as a function of its total activity; with --learn replay or frame")
      .one_of(weights)
      .show_default();
  sub.option("--seed", o->stream.seed, "Random seed").show_default();
  sub.option("--start", o->start, "Model to start from; learning goes on").value("FILE");
  sub.flag("--freeze", o->freeze, "Do not learn: only apply the model of --start");
  sub.option(
         "--remove", o->remove,
         "Write the channels without these outputs instead of the sources: numbers from 1, comma-separated. "
         "With --page, 0 = write the channels, nothing removed yet")
      .value("K")
      .comma_separated()
      .one_at_a_time();
  sub.option("--model", o->model, "File to write the final model to").value("FILE");
  sub.option("--state", o->state,
             "File to keep the state in: saved regularly, at the end and when interrupted. If it exists, the "
             "stream is resumed from it")
      .value("FILE");
  add_trace_option(sub, o->trace, "With --learn replay or frame");
  sub.option("--save-every", o->save_every, "Save the state every N frames, and at least every 10 s")
      .range(1, Index{1} << 60)
      .show_default();
  sub.option("--status", o->status, "Print a status line to stderr at this interval")
      .value("SECONDS")
      .positive();
  add_page_option(sub, o->page);
  sub.flag("--realtime", o->realtime, "Read a file at its sampling rate, as if it were live");
  sub.flag("--json", o->json, "Print the status and the events of the page as JSON, one object per line");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
