#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "console.hpp"
#include "demix/file_use.hpp"
#include "demix/frame_io.hpp"
#include "demix/signal_files.hpp"
#include "demix/stream_separator.hpp"
#include "signals.hpp"
#include "stream_state.hpp"
#include "stream_status.hpp"

namespace demix::cli {
namespace {

using Clock = std::chrono::steady_clock;

struct Options {
  std::string input = "-";
  std::string output = "-";
  std::string format;
  std::string output_format;
  Index channels = 0;
  double rate = 0;
  std::string learn = "moments";
  std::optional<double> track;  // seconds
  std::string start;
  bool freeze = false;
  std::vector<Index> remove;  // outputs, from 1
  std::string model;
  std::string state;
  Index save_every = 100000;
  double status = 0;
  bool json = false;
  StreamOptions stream;
};

// Until there is input, a signal, or `seconds` have passed; says whether there is input.
bool wait_for_input(int fd, double seconds) {
  std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {stop_descriptor(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), std::max(1, static_cast<int>(1000 * seconds)));
  return fds[0].revents != 0;
}

std::string input_name(const Options& o) { return o.input == "-" ? "standard input" : o.input; }

io::FrameFormat input_format(const Options& o) {
  if (!o.format.empty()) return io::frame_format_named(o.format);
  const std::optional<io::FrameFormat> format = o.input == "-" ? std::nullopt : io::frame_format_of(o.input);
  if (format) return *format;
  throw UsageError(fmt::format("{}: what kind of input is it? give --format f32, f64, s16, s32, wav or csv",
                               input_name(o)));
}

// By its name, or as the input; a name that says something else is not believed. Sources are larger than the
// largest whole number stands for.
io::FrameFormat output_format(const Options& o, io::FrameFormat input) {
  if (!o.output_format.empty()) return io::frame_format_named(o.output_format);
  if (o.remove.empty() && input == io::FrameFormat::s16) input = io::FrameFormat::f32;
  if (o.remove.empty() && input == io::FrameFormat::s32) input = io::FrameFormat::f64;
  if (o.output == "-") return input;
  if (const std::optional<io::FrameFormat> format = io::frame_format_of(o.output)) return *format;
  if (!io::is_supported(o.output)) return input;
  const io::Format& other = io::format_of(o.output);
  const bool is_text = other.open == io::format_of("x.csv").open;
  if (is_text && input == io::FrameFormat::csv) return input;
  throw UsageError(fmt::format(
      "{}: stream writes .f32, .f64, .s16, .s32, .wav or .csv, not {}; name it so, or give --output-format",
      o.output, other.name));
}

template <typename T>
class Session {
 public:
  Session(const Options& o, const io::FrameLayout& asked) : o_(o), reader_(o.input, asked) {
    const std::optional<StreamState> saved = load_stream_state(o.state);
    if (saved) {
      restore(*saved);
    } else {
      try {
        stream_.emplace(reader_.layout().channels, stream_options());
        if (!o.start.empty()) stream_->start(io::load_model(o.start), o.freeze);
      } catch (const std::invalid_argument& e) {
        throw UsageError(e.what());  // options that do not go together, or with so many channels
      }
    }
    const io::FrameLayout out = output_layout();
    if (saved) {
      go_on(*saved, out);
    } else {
      writer_.emplace(o.output, out);
    }
    writer_->interrupt_by(stop_descriptor());
  }

  void run() {
    bool flushed = false;
    std::string failure;
    try {
      separate();
      writer_->finish();
      flushed = true;
    } catch (const io::ClosedPipe&) {  // whoever read has had enough
    } catch (const io::Interrupted&) {
      if (o_.state.empty())
        message("warning: stopped while nobody read the output; the end of it is missing");
    } catch (const io::Error& e) {
      failure = e.what();
      flushed = finish_after_failure();
    }
    if (!o_.state.empty()) save(flushed);
    const StreamStatus status = stream_->status();
    const std::string refused = refused_text(status);
    const bool all_refused = status.frames > 0 && status.refused == status.frames;
    if (all_refused && failure.empty()) failure = input_name(o_) + ": " + refused;
    if (!o_.model.empty() && !all_refused) {
      save_model();  // its warnings tell of refused frames, too
    } else if (!refused.empty() && !all_refused) {
      message("warning: {}", refused);
    }
    if (o_.status > 0) print_status();
    if (!failure.empty()) throw Failure(failure);
  }

 private:
  StreamOptions stream_options() const {
    StreamOptions options = o_.stream;
    if (!o_.track) return options;
    const double rate = reader_.layout().rate;
    if (rate == 0) throw UsageError("--track SECONDS needs to know the rate; give --rate");
    options.memory = *o_.track * rate;
    if (options.memory < StreamOptions::least_memory) {
      throw UsageError(fmt::format("--track: {} s are {:.0f} frames; at least {:.0f} are needed", *o_.track,
                                   options.memory, StreamOptions::least_memory));
    }
    return options;
  }

  void restore(const StreamState& saved) {
    try {
      stream_.emplace(StreamSeparator<T>::restore(saved.separator));
    } catch (const std::invalid_argument& e) {
      throw Failure(fmt::format("{}: {}; remove it to start anew", o_.state, e.what()));
    }
    if (stream_->channels() != reader_.layout().channels || !(stream_->options() == stream_options())) {
      throw Failure(fmt::format(
          "{}: saved with other options or another number of channels; use the same, or remove it",
          o_.state));
    }
    if (saved.read != stream_->frames()) {
      throw Failure(
          fmt::format("{}: damaged (the separator has seen {} frames, not {}); remove it to start anew",
                      o_.state, stream_->frames(), saved.read));
    }
  }

  io::FrameLayout output_layout() const {
    const io::FrameLayout& in = reader_.layout();
    io::FrameLayout out;
    out.format = output_format(o_, in.format);
    out.channels = o_.remove.empty() ? stream_->outputs() : in.channels;
    out.rate = in.rate;
    for (const Index k : o_.remove) {
      if (k < 1 || k > stream_->outputs())
        throw UsageError(fmt::format("--remove: there are outputs 1 to {}, not {}", stream_->outputs(), k));
    }
    if (!o_.remove.empty()) {
      out.names = in.names;
    } else if (!in.names.empty()) {
      for (Index k = 0; k < out.channels; ++k) out.names.push_back(fmt::format("source{}", k + 1));
    }
    if (o_.output == "-" && out.format != io::FrameFormat::csv && ::isatty(STDOUT_FILENO) != 0) {
      throw Failure("numbers for machines on a terminal? name a file with -o, or give --output-format csv");
    }
    return out;
  }

  void go_on(const StreamState& saved, const io::FrameLayout& out) {
    if (saved.format != io::frame_format_name(out.format)) {
      throw Failure(
          fmt::format("{}: saved while writing {}; write the same, or remove it", o_.state, saved.format));
    }
    frames_ = first_ = saved.read;
    struct stat info {};
    if (::fstat(reader_.fd(), &info) == 0 && S_ISREG(info.st_mode))
      reader_.skip(frames_);  // the same file again
    writer_.emplace(io::FrameWriter::resume(o_.output, out, saved.written));
    message("going on after {} frames ({})", frames_, o_.state);
  }

  // Until the input ends or a signal comes.
  void separate() {
    constexpr Index at_once = 4096;
    Matrix<double> in(stream_->channels(), at_once);
    Matrix<double> out(o_.remove.empty() ? stream_->outputs() : stream_->channels(), at_once);
    Vector<T> x(stream_->channels());
    Vector<T> y(stream_->outputs());
    while (!stop_requested() && !reader_.ended()) {
      if (!reader_.at_hand()) {  // nothing is held back while waiting
        writer_->flush();
        const bool ready = wait_for_input(reader_.fd(), o_.status > 0 ? std::min(o_.status, 10.0) : 10);
        if (stop_requested()) break;
        if (!ready) {
          now_and_then();
          continue;
        }
      }
      const Index got = reader_.read(in);
      frames_ += got;
      since_save_ += got;
      for (Index t = 0; t < got; ++t) {
        x = in.col(t).template cast<T>();
        if (o_.remove.empty()) {
          stream_->step(x, y);
          out.col(t) = y.template cast<double>();
        } else {
          note_removed();
          stream_->step(x, y);
          out.col(t) = in.col(t);
          for (std::size_t k = 0; k < o_.remove.size(); ++k) {
            out.col(t) -= removed_.col(static_cast<Index>(k)) * static_cast<double>(y(o_.remove[k] - 1));
          }
        }
      }
      if (got > 0) writer_->write(out.leftCols(got));
      now_and_then();
    }
  }

  // What the outputs to be removed add to the channels, as of now: a step may change it.
  void note_removed() {
    removed_.resize(stream_->channels(), static_cast<Index>(o_.remove.size()));
    for (std::size_t k = 0; k < o_.remove.size(); ++k)
      removed_.col(static_cast<Index>(k)) = stream_->mixing().col(o_.remove[k] - 1);
  }

  // It may have been the input: what came before is kept.
  bool finish_after_failure() {
    try {
      writer_->finish();
      return true;
    } catch (const io::Error&) {
      return false;
    }
  }

  void now_and_then() {
    const auto now = Clock::now();
    if (!o_.state.empty() && since_save_ > 0 &&
        (since_save_ >= o_.save_every || now - last_save_ > std::chrono::seconds(10))) {
      save(true);
    }
    if (o_.status > 0 && now - last_status_ >= std::chrono::duration<double>(o_.status)) print_status();
  }

  void save(bool sync) {
    if (sync) writer_->sync();
    io::write_file(o_.state, to_bytes({frames_, std::string(io::frame_format_name(writer_->layout().format)),
                                       writer_->written(), stream_->state()}));
    since_save_ = 0;
    last_save_ = Clock::now();
  }

  void save_model() {
    Model model;
    try {
      model = stream_->model();
    } catch (const std::invalid_argument& e) {
      throw Failure(fmt::format("no model written to {}: {}", o_.model, e.what()));
    }
    model.names = reader_.layout().names;
    io::save_model(o_.model, model);
    print_warnings(model);
  }

  void print_status() {
    last_status_ = Clock::now();
    const double seconds = std::max(1e-9, std::chrono::duration<double>(last_status_ - start_).count());
    const double speed = static_cast<double>(frames_ - first_) / seconds;
    const StreamStatus status = stream_->status();
    if (o_.json) {
      write_to_stderr(status_json(status, speed) + "\n");
    } else {
      message("{}", status_line(status, speed, reader_.layout().rate));
    }
  }

  const Options& o_;
  io::FrameReader reader_;
  std::optional<StreamSeparator<T>> stream_;
  std::optional<io::FrameWriter> writer_;
  Matrix<double> removed_;  // channels x outputs to be removed
  std::int64_t frames_ = 0;
  std::int64_t first_ = 0;  // frames seen before this session
  std::int64_t since_save_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_save_ = start_;
  Clock::time_point last_status_ = start_;
};

// What is written at the end must not fail for want of a folder then.
void require_writable(const std::string& name) {
  if (name.empty()) return;
  const auto folder = std::filesystem::absolute(name).parent_path();
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Failure(fmt::format("{}: cannot write there: {}", name, std::strerror(errno)));
  }
}

void run(Options o) {
  io::FileUse use{{o.input}, {o.output, o.model, o.state, StateLock::file_for(o.state)}};
  if (!o.start.empty()) use.also_reads({o.start});
  io::require_different_files(use);
  require_writable(o.model);
  require_writable(o.state);
  io::FrameLayout asked;
  asked.format = input_format(o);
  asked.channels = o.channels;
  asked.rate = o.rate;
  const bool raw = asked.format != io::FrameFormat::wav && asked.format != io::FrameFormat::csv;
  if (raw && o.channels == 0)
    throw UsageError("raw input does not say how many channels it has; give --channels");
  o.stream.learn = learn_named(o.learn);
  if (o.freeze && o.start.empty()) throw UsageError("--freeze goes with --start");
  if (o.json && o.status == 0) throw UsageError("--json is how --status prints; give --status SECONDS");
  if (!o.remove.empty() && o.stream.learn != StreamOptions::Learn::moments)
    throw UsageError("--remove: only with --learn moments");
  stop_in_order();
  const StateLock lock(o.state);
  try {
    if (asked.format == io::FrameFormat::f32) {
      Session<float>(o, asked).run();
    } else {
      Session<double>(o, asked).run();
    }
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

void add_stream(Program& program) {
  Arguments sub = program.command("stream", "Separate frames as they come, from standard input or a file");
  auto o = std::make_shared<Options>();
  const std::vector<std::string> formats{"f32", "f64", "s16", "s32", "wav", "csv"};
  sub.option("input", o->input, "File of frames, - for standard input").show_default();
  sub.option("-o,--output", o->output, "File for the sources, - for standard output").show_default();
  sub.option("--format", o->format,
             "Of the input: f32, f64, s16, s32 (raw, interleaved, little-endian), wav, csv (default: by the "
             "file's "
             "name)")
      .one_of(formats);
  sub.option("--output-format", o->output_format,
             "Of the output (default: by its name, or as the input; sources of s16 as f32, of s32 as f64)")
      .one_of(formats);
  sub.option("--channels", o->channels, "Channels of raw input").range(1, 4096);
  sub.option("--rate", o->rate, "Frames per second, where the input does not say").positive();
  sub.option("--components", o->stream.components, "Put out at most this many, the strongest").range(1, 4096);
  sub.option("--track", o->track, "Follow a mixing that moves, with a memory of this many seconds")
      .positive();
  sub.flag("--robust", o->stream.robust, "Do not learn from frames of outlying size");
  sub.option("--saturation", o->stream.saturation, "Refuse frames with a value of this size or more")
      .positive();
  sub.option("--learn", o->learn,
             "From what: moments (running sums and a sample of the past; any order), replay (the network, "
             "from the last 16384 frames), "
             "frame (the network, from the frame at hand; random order only)")
      .one_of({"moments", "replay", "frame"})
      .show_default();
  sub.option("--seed", o->stream.seed, "Of the network's start and the draws").show_default();
  sub.option("--start", o->start, "Begin with this model's matrix, and go on learning");
  sub.flag("--freeze", o->freeze, "With --start: only apply the model");
  sub.option("--remove", o->remove,
             "Put out the channels without these outputs, comma-separated, from 1, instead of the sources")
      .comma_separated()
      .one_at_a_time();
  sub.option("--model", o->model, "Write the model here at the end");
  sub.option(
      "--state", o->state,
      "Save the state here now and then, at the end and on SIGINT or SIGTERM; if it exists, go on from it");
  sub.option("--save-every", o->save_every, "Frames between saves (10 s at the latest)")
      .range(1, Index{1} << 60)
      .show_default();
  sub.option("--status", o->status, "A line on stderr every so many seconds, and one at the end").positive();
  sub.flag("--json", o->json, "Print --status as JSON, one line each");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
