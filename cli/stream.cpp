#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "console.hpp"
#include "demix/frame_io.hpp"
#include "demix/io.hpp"
#include "demix/stream_separator.hpp"

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
  std::string model;
  std::string state;
  Index save_every = 100000;
  double status = 0;
  StreamOptions stream;
};

// SIGINT and SIGTERM end the stream in an orderly way; a second one at once.
volatile std::sig_atomic_t stop = 0;
std::array<int, 2> wake{-1, -1};

void on_signal(int) {
  stop = 1;
  const int saved = errno;
  [[maybe_unused]] const ssize_t put = ::write(wake[1], "x", 1);
  errno = saved;
}

void catch_signals() {
  if (::pipe2(wake.data(), O_CLOEXEC | O_NONBLOCK) != 0) throw Failure("cannot make a pipe");
  struct sigaction action {};
  action.sa_handler = on_signal;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::signal(SIGPIPE, SIG_IGN);  // a closed pipe is seen by whoever writes
}

// Until there is input, a signal, or `seconds` have passed; says whether there is input.
bool wait_for_input(int fd, double seconds) {
  std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {wake[0], POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), std::max(1, static_cast<int>(1000 * seconds)));
  return fds[0].revents != 0;
}

io::FrameFormat format_of(const std::string& said, const std::string& name, const char* which,
                          const char* option) {
  if (!said.empty()) return io::frame_format_named(said);
  const std::optional<io::FrameFormat> format = name == "-" ? std::nullopt : io::frame_format_of(name);
  if (format) return *format;
  throw UsageError(fmt::format("{}: what kind of {} is it? give {} f32, f64, wav or csv",
                               name == "-" ? "standard input" : name, which, option));
}

// What is saved with --state: where the files were, and the separator.
struct Saved {
  std::int64_t read = 0;      // frames
  std::uint64_t written = 0;  // bytes
  std::string format;         // of the output
  std::string separator;
};

constexpr std::string_view saved_magic = "demix stream file 1\n";

std::string to_bytes(const Saved& s) {
  const nlohmann::json where = {{"read", s.read}, {"written", s.written}, {"format", s.format}};
  return fmt::format("{}{}\n", saved_magic, where.dump()) + s.separator;
}

std::optional<Saved> load(const std::string& path) {
  if (path.empty() || !std::filesystem::exists(path)) return std::nullopt;
  const std::string bytes = io::read_file(path);
  const std::size_t end = bytes.find('\n', saved_magic.size());
  if (bytes.compare(0, saved_magic.size(), saved_magic) != 0 || end == std::string::npos) {
    throw Failure(
        fmt::format("{}: not a state that demix stream has saved; name another file, or remove it", path));
  }
  try {
    const auto where = nlohmann::json::parse(bytes.substr(saved_magic.size(), end - saved_magic.size()));
    return Saved{where.at("read"), where.at("written"), where.at("format"), bytes.substr(end + 1)};
  } catch (const nlohmann::json::exception&) {
    throw Failure(fmt::format("{}: damaged; remove it to start anew", path));
  }
}

template <typename T>
class Session {
 public:
  Session(const Options& o, const io::FrameLayout& asked) : o_(o), reader_(o.input, asked) {
    const io::FrameLayout& in = reader_.layout();
    StreamOptions options = o.stream;
    if (o.track) {
      if (in.rate == 0) throw UsageError("--track SECONDS needs to know the rate; give --rate");
      options.memory = *o.track * in.rate;
      if (options.memory < StreamOptions::least_memory) {
        throw UsageError(fmt::format("--track: {} s are {:.0f} frames; at least {:.0f} are needed", *o.track,
                                     options.memory, StreamOptions::least_memory));
      }
    }
    const std::optional<Saved> saved = load(o.state);
    try {
      if (saved) {
        stream_.emplace(StreamSeparator<T>::restore(saved->separator));
      } else {
        stream_.emplace(in.channels, options);
      }
    } catch (const std::invalid_argument& e) {
      if (saved) throw Failure(fmt::format("{}: {}; remove it to start anew", o.state, e.what()));
      throw UsageError(e.what());  // options that do not go together, or with so many channels
    }
    if (saved && (stream_->channels() != in.channels || !(stream_->options() == options))) {
      throw Failure(fmt::format(
          "{}: saved with other options or another number of channels; use the same, or remove it", o.state));
    }
    io::FrameLayout out;
    out.format = o.output_format.empty() && (o.output == "-" || !io::frame_format_of(o.output))
                     ? in.format
                     : format_of(o.output_format, o.output, "output", "--output-format");
    out.channels = stream_->outputs();
    out.rate = in.rate;
    if (!in.names.empty()) {
      for (Index k = 0; k < out.channels; ++k) out.names.push_back(fmt::format("source{}", k + 1));
    }
    if (o.output == "-" && out.format != io::FrameFormat::csv && ::isatty(STDOUT_FILENO) != 0) {
      throw Failure("numbers for machines on a terminal? name a file with -o, or give --output-format csv");
    }
    if (!saved) {
      writer_.emplace(o.output, out);
      return;
    }
    if (saved->format != io::frame_format_name(out.format)) {
      throw Failure(
          fmt::format("{}: saved while writing {}; write the same, or remove it", o.state, saved->format));
    }
    frames_ = first_ = saved->read;
    struct stat info {};
    if (::fstat(reader_.fd(), &info) == 0 && S_ISREG(info.st_mode))
      reader_.skip(frames_);  // the same file again
    writer_.emplace(io::FrameWriter::resume(o.output, out, saved->written));
    fmt::print(stderr, "going on after {} frames ({})\n", frames_, o.state);
  }

  void run() {
    constexpr Index at_once = 4096;
    Matrix<double> in(stream_->channels(), at_once);
    Matrix<double> out(stream_->outputs(), at_once);
    Vector<T> x(stream_->channels());
    Vector<T> y(stream_->outputs());
    bool closed = false;
    std::string failure;  // of the input: what was done before it is kept
    try {
      while (stop == 0 && !reader_.ended()) {
        if (!reader_.at_hand()) {  // nothing is held back while waiting
          writer_->flush();
          const bool ready = wait_for_input(reader_.fd(), o_.status > 0 ? std::min(o_.status, 10.0) : 10);
          if (stop != 0) break;
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
          stream_->step(x, y);
          out.col(t) = y.template cast<double>();
        }
        if (got > 0) writer_->write(out.leftCols(got));
        now_and_then();
      }
      writer_->finish();
    } catch (const io::ClosedPipe&) {
      closed = true;  // whoever read has had enough
    } catch (const io::Error& e) {
      failure = e.what();
      writer_->finish();
    }
    if (!o_.state.empty()) save(closed);
    if (!o_.model.empty()) {
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
    if (o_.status > 0) print_status();
    if (!failure.empty()) throw Failure(failure);
  }

 private:
  void now_and_then() {
    const auto now = Clock::now();
    if (!o_.state.empty() && since_save_ > 0 &&
        (since_save_ >= o_.save_every || now - last_save_ > std::chrono::seconds(10))) {
      save();
    }
    if (o_.status > 0 && now - last_status_ >= std::chrono::duration<double>(o_.status)) print_status();
  }

  void save(bool closed = false) {
    if (!closed) writer_->sync();
    io::write_file(
        o_.state, to_bytes({frames_, writer_->bytes(),
                            std::string(io::frame_format_name(writer_->layout().format)), stream_->state()}));
    since_save_ = 0;
    last_save_ = Clock::now();
  }

  void print_status() {
    last_status_ = Clock::now();
    const double seconds = std::max(1e-9, std::chrono::duration<double>(last_status_ - start_).count());
    const double speed = static_cast<double>(frames_ - first_) / seconds;
    const StreamStatus s = stream_->status();
    std::string line = fmt::format("{} frames", s.frames);
    const double rate = reader_.layout().rate;
    if (rate > 0) line += fmt::format(" ({:.1f} s)", static_cast<double>(s.frames) / rate);
    line += fmt::format(", {:.3g} frames/s", speed);
    if (rate > 0) line += fmt::format(" ({:.3g}x real time)", speed / rate);
    if (s.rank == 0) {
      line += ", nothing separated yet";
    } else {
      line += fmt::format(", {} source{} {}, kurtosis", s.rank, s.rank == 1 ? "" : "s",
                          s.settled ? "settled" : "not settled yet");
      for (Index i = 0; i < s.rank; ++i)
        line += fmt::format(" {:.3g}+-{:.1g}", s.kurtosis(i), s.kurtosis_error(i));
      line += fmt::format(", expected error {:.1e}, condition {:.2g}", s.expected_mse, s.condition);
      if (!s.unresolved.empty()) line += fmt::format(", {} pairs too alike", s.unresolved.size());
    }
    if (s.refused > 0) line += fmt::format(", {} refused", s.refused);
    if (s.outliers > 0) line += fmt::format(", {} outliers", s.outliers);
    if (s.changes > 0) line += fmt::format(", mixing changed at frame {}", s.last_change);
    fmt::print(stderr, "{}\n", line);
  }

  const Options& o_;
  io::FrameReader reader_;
  std::optional<StreamSeparator<T>> stream_;
  std::optional<io::FrameWriter> writer_;
  std::int64_t frames_ = 0;
  std::int64_t first_ = 0;  // frames seen before this session
  std::int64_t since_save_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_save_ = start_;
  Clock::time_point last_status_ = start_;
};

void require_different_files(const Options& o) {
  std::vector<std::filesystem::path> paths;
  for (const std::string* name : {&o.input, &o.output, &o.model, &o.state}) {
    if (name->empty() || *name == "-") continue;
    std::error_code none;
    const auto path = std::filesystem::weakly_canonical(*name, none);
    if (none) continue;  // a pipe by name
    if (std::find(paths.begin(), paths.end(), path) != paths.end()) {
      throw Failure(
          fmt::format("{}: named twice; input, output, model and state must be different files", *name));
    }
    paths.push_back(path);
  }
  // The same file by another name, or redirected.
  struct stat in {};
  struct stat out {};
  const bool both = (o.input == "-" ? ::fstat(STDIN_FILENO, &in) : ::stat(o.input.c_str(), &in)) == 0 &&
                    (o.output == "-" ? ::fstat(STDOUT_FILENO, &out) : ::stat(o.output.c_str(), &out)) == 0;
  if (both && S_ISREG(in.st_mode) && in.st_dev == out.st_dev && in.st_ino == out.st_ino) {
    throw Failure(fmt::format("{}: is the input; the output must be another file", o.output));
  }
}

// What is written at the end must not fail for want of a folder then.
void require_writable(const std::string& name) {
  if (name.empty()) return;
  const auto folder = std::filesystem::absolute(name).parent_path();
  if (::access(folder.c_str(), W_OK) != 0) {
    throw Failure(fmt::format("{}: cannot write there: {}", name, std::strerror(errno)));
  }
}

void run(Options o) {
  require_different_files(o);
  require_writable(o.model);
  require_writable(o.state);
  io::FrameLayout asked;
  asked.format = format_of(o.format, o.input, "input", "--format");
  asked.channels = o.channels;
  asked.rate = o.rate;
  const bool raw = asked.format == io::FrameFormat::f32 || asked.format == io::FrameFormat::f64;
  if (raw && o.channels == 0)
    throw UsageError("raw input does not say how many channels it has; give --channels");
  o.stream.learn = learn_named(o.learn);
  catch_signals();
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

void add_stream(Program& program) {
  Arguments sub = program.command("stream", "Separate frames as they come, from standard input or a file");
  auto o = std::make_shared<Options>();
  const std::vector<std::string> formats{"f32", "f64", "wav", "csv"};
  sub.option("input", o->input, "File of frames, - for standard input").show_default();
  sub.option("-o,--output", o->output, "File for the sources, - for standard output").show_default();
  sub.option(
         "--format", o->format,
         "Of the input: f32, f64 (raw, interleaved, little-endian), wav, csv (default: by the file's name)")
      .one_of(formats);
  sub.option("--output-format", o->output_format, "Of the output (default: by its name, or as the input)")
      .one_of(formats);
  sub.option("--channels", o->channels, "Channels of raw input").range(1, 4096);
  sub.option("--rate", o->rate, "Frames per second, where the input does not say").positive();
  sub.option("--components", o->stream.components, "Put out at most this many, the strongest").range(1, 4096);
  sub.option("--track", o->track, "Follow a mixing that moves, with a memory of this many seconds")
      .positive();
  sub.flag("--robust", o->stream.robust, "Do not learn from frames of outlying size");
  sub.option("--saturation", o->stream.saturation, "Refuse frames with a value of this size or more")
      .positive();
  sub.option(
         "--learn", o->learn,
         "From what: moments (running sums; any order), replay (the network, from the last 16384 frames), "
         "frame (the network, from the frame at hand; random order only)")
      .one_of({"moments", "replay", "frame"})
      .show_default();
  sub.option("--seed", o->stream.seed, "Of the network's start and the draws").show_default();
  sub.option("--model", o->model, "Write the model here at the end");
  sub.option(
      "--state", o->state,
      "Save the state here now and then, at the end and on SIGINT or SIGTERM; if it exists, go on from it");
  sub.option("--save-every", o->save_every, "Frames between saves (10 s at the latest)")
      .range(1, Index{1} << 60)
      .show_default();
  sub.option("--status", o->status, "A line on stderr every so many seconds, and one at the end").positive();
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
