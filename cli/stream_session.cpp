#include "stream_session.hpp"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <memory>

#include "console.hpp"
#include "demix/electrodes.hpp"
#include "demix/output_files.hpp"
#include "demix/temporary.hpp"
#include "files/chosen_channels.hpp"
#include "pace.hpp"
#include "page_option.hpp"
#include "signals.hpp"
#include "stream_input.hpp"
#include "stream_state.hpp"
#include "stream_status.hpp"
#include "trace_option.hpp"

namespace demix::cli {
namespace {

using Clock = std::chrono::steady_clock;

// Until there is input, a signal, or `seconds` have passed; says whether there is input.
bool wait_for_input(int fd, double seconds) {
  std::array<pollfd, 2> fds{{{fd, POLLIN, 0}, {stop_descriptor(), POLLIN, 0}}};
  ::poll(fds.data(), fds.size(), std::max(1, static_cast<int>(1000 * seconds)));
  return fds[0].revents != 0;
}

template <typename T>
class Session {
 public:
  Session(const StreamArguments& o, std::optional<io::Encoding> encoding, const io::ReadOptions& asked)
      : o_(o),
        reader_(o.input, encoding, asked),
        picks_(picked_channels(o, reader_.info(), reader_.kind())),
        info_(info_of(reader_.info(), picks_)),
        takes_all_(info_.channels == reader_.info().channels) {
    if (o.realtime && reader_.info().rate == 0)
      throw UsageError("--realtime needs to know the rate; give --rate");
    if (info_.channels == 1 && !o.freeze) throw Failure(input_name(o) + ": one channel: nothing to separate");
    const std::optional<StreamState> saved = load_stream_state(o.state);
    if (saved) {
      restore(*saved);
    } else {
      try {
        stream_.emplace(info_.channels, stream_options());
        if (!o.start.empty())
          stream_->start(start_model(o, stream_->channels(), stream_->outputs()), o.freeze);
      } catch (const std::invalid_argument& e) {
        throw UsageError(as_typed(e.what()));  // options that do not go together, or with so many channels
      }
    }
    const io::Encoding output = output_encoding(o, encoding);
    const io::SignalInfo info = output_info(output);
    wishes_.muted.reserve(static_cast<std::size_t>(stream_->outputs()));
    wishes_.muted = o.muted();
    wishes_.frozen = o.freeze;
    if (saved) stream_->freeze(o.freeze);  // what was frozen on the page is not
    if (o.page) page_ = open_page(*o.page, page_options(), o.json);
    if (saved) {
      go_on(*saved, output, info);
    } else {
      writer_.emplace(o.output, output, info);
    }
    for (const std::string& note : reader_.info().notes) message("note: {}", as_typed(note));
    if (const std::string others = left_out(reader_.info(), picks_); !others.empty())
      message("note: {}: {}", input_name(o), others);
    writer_->interrupt_by(stop_descriptor());
    gain_ = output_gain(o, output);
    x_.resize(stream_->channels());
    y_.resize(stream_->outputs());
    if (o.writes_channels()) removed_.resize(stream_->channels(), stream_->outputs());
    if (o.realtime) pace_.emplace(reader_.info().rate);
    trace_ = NetworkTrace(frames_ + 1);
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
    if (page_) page_->show_state(*stream_);
    if (!o_.state.empty()) save(flushed);
    const StreamStatus status = stream_->status();
    const bool all_refused = status.frames > 0 && status.refused == status.frames;
    const std::string complaint = end_complaint(status, o_.only_applies(), o_.writes_channels());
    if (all_refused && failure.empty()) failure = input_name(o_) + ": " + complaint;
    if (!o_.model.empty() && !all_refused) {
      save_model();  // its warnings tell of refused frames, too
    } else if (!complaint.empty() && !all_refused && (status.refused > 0 || failure.empty())) {
      message("warning: {}: {}", input_name(o_), complaint);
    }
    if (writer_->clipped() > 0) {
      message("warning: {}: {} values were beyond full scale and were clipped; {}", output_name(o_),
              writer_->clipped(), "--output-format f32 or f64 holds all");
    }
    page_.reset();
    if (o_.status > 0) print_status();
    if (!o_.trace.empty()) {
      io::write_file(o_.trace, io::to_npz(trace_arrays(trace_)));
      try_to_draw(o_.trace, {{"stream, learn " + o_.learn, &trace_}});
    }
    if (!failure.empty() && status.frames == 0 && o_.state.empty()) remove_output();
    if (!failure.empty()) throw Failure(failure);
  }

 private:
  StreamOptions stream_options() const {
    StreamOptions options = o_.stream;
    const double rate = info_.rate;
    if (o_.filters.any() && rate == 0)
      throw UsageError("--highpass, --lowpass, --notch need to know the rate; give --rate");
    try {
      options.filter = design(o_.filters, rate);
    } catch (const std::invalid_argument& e) {
      throw UsageError(std::string("--") + e.what());
    }
    options.filter_output = o_.filter_output;
    if (!o_.track) return options;
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
    if (saved.picks != picks_ || stream_->channels() != info_.channels ||
        !(stream_->options() == stream_options())) {
      throw Failure(fmt::format("{}: saved with other options or other channels; use the same, or remove it",
                                o_.state));
    }
    if (saved.read != stream_->frames()) {
      throw Failure(
          fmt::format("{}: damaged (the separator has seen {} frames, not {}); remove it to start anew",
                      o_.state, stream_->frames(), saved.read));
    }
  }

  io::SignalInfo output_info(io::Encoding encoding) const {
    for (const Index k : o_.remove) {
      if (k < (o_.page ? 0 : 1) || k > stream_->outputs())
        throw UsageError(fmt::format("--remove: there are outputs 1 to {}, not {}", stream_->outputs(), k));
    }
    const bool is_text = encoding == io::Encoding::csv || encoding == io::Encoding::tsv;
    if (o_.output == "-" && !is_text && ::isatty(STDOUT_FILENO) != 0) {
      throw Failure(
          "refusing to write binary data to a terminal; name a file with -o, or give --output-format csv");
    }
    return o_.writes_channels() ? reader_.info() : io::source_info(info_, stream_->outputs());
  }

  live::PageOptions page_options() const {
    const std::string input =
        o_.input == "-" ? input_name(o_) : std::filesystem::path(o_.input).filename().string();
    return {.title = o_.title.empty() ? input : o_.title,
            .rate = info_.rate,
            .channels = info_.channels,
            .outputs = stream_->outputs(),
            .names = info_.names,
            .positions = eeg::with_standard(info_.positions, info_.names),
            .stream = stream_->options(),
            .muted = wishes_.muted,
            .frozen = wishes_.frozen,
            .writes_channels = o_.writes_channels(),
            .model_file = o_.model,
            .tell = {}};
  }

  void go_on(const StreamState& saved, io::Encoding output, const io::SignalInfo& info) {
    if (saved.format != io::encoding_name(output)) {
      throw Failure(
          fmt::format("{}: saved while writing {}; write the same, or remove it", o_.state, saved.format));
    }
    frames_ = first_ = saved.read;
    const bool is_file = reader_.progress().has_value();
    if (is_file) reader_.skip(frames_);  // the same file again
    writer_.emplace(io::StreamWriter::resume(o_.output, output, info, saved.written));
    message("going on after {} frames ({})", frames_, o_.state);
  }

  // Until the input ends or a signal comes.
  void separate() {
    constexpr Index at_once = 4096;
    const Index channels = reader_.info().channels;
    Matrix<double> in(channels, at_once);
    Matrix<double> picked(takes_all_ ? 0 : info_.channels, at_once);
    Matrix<double> sources(stream_->outputs(), at_once);
    Matrix<double> out(o_.writes_channels() ? channels : stream_->outputs(), at_once);
    while (!stop_requested() && !reader_.ended()) {
      const Index due = pace_ ? std::min(at_once, pace_->due(frames_ - first_)) : at_once;
      if (due == 0 || !reader_.at_hand()) {  // nothing is held back while waiting
        writer_->flush();
        const double longest = o_.status > 0 ? std::min(o_.status, 10.0) : 10;
        const bool ready =
            due == 0 ? !wait_for_input(-1, Pace::moment) : wait_for_input(reader_.fd(), longest);
        if (stop_requested()) break;
        if (due == 0 || !ready) {
          now_and_then();
          continue;
        }
      }
      const Index got = reader_.read_some(in.leftCols(due));
      if (page_ && page_->take(wishes_)) stream_->freeze(wishes_.frozen);
      if (!takes_all_) picked.leftCols(got) = in(picks_, Eigen::seqN(0, got));
      const Matrix<double>& frames = takes_all_ ? in : picked;
      for (Index t = 0; t < got; ++t) separate(in.col(t), frames.col(t), sources.col(t), out.col(t));
      if (gain_ != 1) out.leftCols(got) *= gain_;
      if (got > 0) writer_->write(out.leftCols(got));
      if (page_) page_->show(frames_, frames.leftCols(got), sources.leftCols(got));
      frames_ += got;
      since_save_ += got;
      show_progress();
      now_and_then();
    }
  }

  // in: all channels; frame: those learned from
  void separate(Eigen::Ref<const Vector<double>> in, Eigen::Ref<const Vector<double>> frame,
                Eigen::Ref<Vector<double>> source, Eigen::Ref<Vector<double>> out) {
    x_ = frame.template cast<T>();
    if (o_.writes_channels()) {
      note_removed();
      stream_->step(x_, y_);
      clean_ = o_.filter_output ? Eigen::Ref<const Vector<double>>(stream_->filtered()) : frame;
      for (std::size_t k = 0; k < wishes_.muted.size(); ++k)
        clean_ -= removed_.col(static_cast<Index>(k)) * static_cast<double>(y_(wishes_.muted[k]));
      out = in;
      out(picks_) = clean_;
    } else {
      stream_->step(x_, y_);
      if (!o_.trace.empty()) stream_->note(trace_);
      out = y_.template cast<double>();
      for (const Index k : wishes_.muted) out(k) = 0;
    }
    if (page_) source = y_.template cast<double>();
  }

  // Of a file, where nothing else is printed.
  void show_progress() {
    if (o_.status > 0 || (o_.output == "-" && ::isatty(STDOUT_FILENO) != 0)) return;
    if (const std::optional<double> share = reader_.progress()) bar_(*share);
  }

  // What the outputs to be removed add to the channels, as of now: a step may change it.
  void note_removed() {
    for (std::size_t k = 0; k < wishes_.muted.size(); ++k)
      removed_.col(static_cast<Index>(k)) = stream_->mixing().col(wishes_.muted[k]);
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
    if (page_ && page_->wants_snapshot()) page_->show_state(*stream_);
    const auto now = Clock::now();
    if (!o_.state.empty() && since_save_ > 0 &&
        (since_save_ >= o_.save_every || now - last_save_ > std::chrono::seconds(10))) {
      save(true);
    }
    if (o_.status > 0 && now - last_status_ >= std::chrono::duration<double>(o_.status)) print_status();
  }

  // It has a header at most.
  void remove_output() {
    writer_.reset();
    std::error_code none;
    if (o_.output != "-" && std::filesystem::is_regular_file(o_.output, none))
      std::filesystem::remove(followed(o_.output), none);
  }

  void save(bool sync) {
    if (sync) writer_->sync();
    io::write_file(o_.state, to_bytes({frames_, std::string(io::encoding_name(writer_->encoding())), picks_,
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
    model.names = info_.names;
    if (page_) page_->add_names(model, stream_->unmixing());
    io::save_model(o_.model, model);
    print_warnings(model);
  }

  void print_status() {
    last_status_ = Clock::now();
    const double seconds = std::chrono::duration<double>(last_status_ - start_).count();
    std::optional<double> speed;  // not known of a moment
    if (seconds > 1e-3) speed = static_cast<double>(frames_ - first_) / seconds;
    const StreamStatus status = stream_->status();
    if (o_.json) {
      write_to_stderr(status_json(status, speed) + "\n");
    } else {
      message("{}", status_line(status, speed, reader_.info().rate));
    }
  }

  const StreamArguments& o_;
  Progress bar_{"separating"};  // of files
  StreamInput reader_;
  std::vector<Index> picks_;  // the channels that are learned from
  io::SignalInfo info_;       // of these
  bool takes_all_;
  std::optional<StreamSeparator<T>> stream_;
  std::optional<io::StreamWriter> writer_;
  NetworkTrace trace_;
  Vector<T> x_, y_;         // the frame
  Vector<double> clean_;    // the channels without what is removed
  Matrix<double> removed_;  // channels x outputs: of those to be removed, the first columns
  std::unique_ptr<live::LivePage> page_;
  live::Wishes wishes_;  // what is removed or silent
  std::optional<Pace> pace_;
  double gain_ = 1;  // of what is written
  std::int64_t frames_ = 0;
  std::int64_t first_ = 0;  // frames seen before this session
  std::int64_t since_save_ = 0;
  Clock::time_point start_ = Clock::now();
  Clock::time_point last_save_ = start_;
  Clock::time_point last_status_ = start_;
};

}  // namespace

void run_session(const StreamArguments& o, std::optional<io::Encoding> encoding,
                 const io::ReadOptions& asked) {
  if (encoding == io::Encoding::f32) {
    Session<float>(o, encoding, asked).run();
  } else {
    Session<double>(o, encoding, asked).run();
  }
}

}  // namespace demix::cli
