#include "live/watch.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "demix/io.hpp"
#include "demix/scalp_map.hpp"
#include "demix/version.hpp"

namespace demix::live {
namespace {

using nlohmann::ordered_json;

constexpr std::size_t most_marks = 1000;
constexpr std::size_t most_events = 200;
constexpr std::size_t most_name = 60;   // bytes
constexpr std::size_t most_text = 200;  // bytes

// Bytes that are not UTF-8, as names of channels may have, are replaced.
std::string text_of(const ordered_json& json) {
  return json.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

ordered_json list_of(const Vector<double>& v) { return std::vector<double>(v.begin(), v.end()); }

template <typename List, typename T>
void keep(List& list, T&& value, std::size_t most) {
  list.push_back(std::forward<T>(value));
  if (list.size() > most) list.pop_front();
}

std::string clean(const std::string& text, const char* what, std::size_t most) {
  if (text.size() > most)
    throw std::invalid_argument(std::string(what) + ": expected at most " + std::to_string(most) + " bytes");
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::ranges::any_of(text, control))
    throw std::invalid_argument(std::string(what) + ": control characters are not taken");
  return ordered_json::parse(text_of(text)).get<std::string>();  // UTF-8
}

std::string plain_name(Index output) { return "source " + std::to_string(output + 1); }

Snapshot nothing_yet(const PageOptions& o) {
  return {.counts = {},
          .unmixing = Matrix<double>::Zero(o.outputs, o.channels),
          .mixing = Matrix<double>::Zero(o.channels, o.outputs),
          .mean = Vector<double>::Zero(o.channels)};
}

// What an output adds at the electrodes, drawn over the head: rows of a square from the nose, the largest 1.
ordered_json map_of(const eeg::Positions& positions, const Vector<double>& mixing) {
  if (positions.empty()) return nullptr;
  const eeg::ScalpMaps maps = eeg::scalp_maps(positions, mixing, 32);
  if (maps.size == 0 || mixing.isZero()) return nullptr;
  const Matrix<float>& grid = maps.grids[0];
  const float largest = std::max(grid.cwiseAbs().maxCoeff(), std::numeric_limits<float>::min());
  ordered_json values = ordered_json::array();
  for (Index i = 0; i < maps.size; ++i) {
    for (Index j = 0; j < maps.size; ++j) values.push_back(std::round(1000 * grid(i, j) / largest) / 1000);
  }
  return {{"size", maps.size}, {"radius", maps.radius}, {"electrodes", maps.electrodes}, {"values", values}};
}

Index sample_places(const PageOptions& o) {
  return o.channels > Watch::most_shown ? 0 : Reservoir::places_for(o.channels, o.stream.memory);
}

}  // namespace

WishBoard::WishBoard(const PageOptions& o) : muted_(static_cast<std::size_t>(o.outputs)), frozen_(o.frozen) {
  for (const Index k : o.muted) muted_[static_cast<std::size_t>(k)] = true;
}

bool WishBoard::take(Wishes& wishes) noexcept {
  const unsigned version = version_.load(std::memory_order_acquire);
  if (version == taken_) return false;
  taken_ = version;
  wishes.frozen = frozen_;
  wishes.muted.clear();  // has the capacity for all
  for (std::size_t k = 0; k < muted_.size(); ++k) {
    if (muted_[k]) wishes.muted.push_back(static_cast<Index>(k));
  }
  return true;
}

void WishBoard::mute(Index output, bool on) {
  muted_[static_cast<std::size_t>(output)] = on;
  version_.fetch_add(1, std::memory_order_release);
}
void WishBoard::freeze(bool on) {
  frozen_ = on;
  version_.fetch_add(1, std::memory_order_release);
}

Watch::Watch(const PageOptions& options)
    : options_(options),
      channels_shown_(std::min(options.channels, most_shown)),
      outputs_shown_(std::min(options.outputs, most_shown)),
      wishes_(options),
      history_(channels_shown_ + outputs_shown_),
      sample_(options.channels, sample_places(options), options.stream.memory, options.stream.seed),
      frame_(Vector<double>::Zero(options.channels)),
      filter_(options.stream.filter, options.channels),
      snapshot_(nothing_yet(options)),
      assessment_(assess(Matrix<double>(options.channels, 0), snapshot_, options.stream)) {
  for (Index k = 0; k < options.outputs; ++k) output_names_.push_back(plain_name(k));
}

bool Watch::drain(FrameRing& ring) {
  const std::lock_guard lock(mutex_);
  const bool sampled = sample_.frames().rows() == channels_shown_ && sample_places(options_) > 0;
  return ring.drain(1024, [&](std::int64_t number, const float* values) {
    history_.add(number, values);
    if (!sampled) return;
    frame_ = Eigen::Map<const Eigen::VectorXf>(values, channels_shown_).cast<double>();
    if (!(frame_.squaredNorm() < 1e150)) return;
    if (!options_.stream.filter.empty()) {
      if (number != filtered_ + 1) filter_.clear();  // frames were left out in between
      filter_.step(frame_, frame_);
      filtered_ = number;
      if (!(frame_.squaredNorm() < 1e150)) return;
    }
    sample_.add(frame_);
  }) > 0;
}

void Watch::take(const Snapshot& snapshot) {
  const std::lock_guard lock(mutex_);
  if (snapshot.counts.changes > snapshot_.counts.changes) {
    keep(changes_, snapshot.counts.last_change, most_marks);
    if (options_.stream.memory > 0) sample_.clear();  // as the stream does
  }
  snapshot_ = snapshot;
  const auto now = Clock::now();
  speed_.emplace_back(now, snapshot.counts.frames);
  while (now - speed_.front().first > std::chrono::seconds(3)) speed_.pop_front();
}

std::int64_t Watch::end() const {
  const std::lock_guard lock(mutex_);
  return history_.end();
}

History::Columns Watch::columns(std::int64_t from, std::int64_t step, Index count, Index first,
                                Index rows) const {
  const std::lock_guard lock(mutex_);
  return history_.columns(from, step, count, first, rows);
}

// Once a second at most, and for at most a twentieth of the time.
const Assessment& Watch::assessment() {
  const auto start = Clock::now();
  if (start < next_assessment_) return assessment_;
  Snapshot snapshot;
  Matrix<double> sample;
  {
    const std::lock_guard lock(mutex_);
    snapshot = snapshot_;
    sample = sample_.in_order_of_time();
  }
  assessment_ = assess(sample, snapshot, options_.stream);
  const auto took = Clock::now() - start;
  next_assessment_ = start + std::max<Clock::duration>(std::chrono::seconds(1), 20 * took);
  return assessment_;
}

std::string Watch::status() {
  const std::lock_guard assessing(assessing_);
  const Assessment& a = assessment();
  const std::lock_guard lock(mutex_);
  const StreamCounts& c = snapshot_.counts;
  double speed = 0;  // also while it is not known
  if (speed_.size() > 1 && Clock::now() - speed_.back().first < std::chrono::seconds(3)) {
    const std::chrono::duration<double> seconds = speed_.back().first - speed_.front().first;
    if (seconds.count() > 1e-3)
      speed = static_cast<double>(speed_.back().second - speed_.front().second) / seconds.count();
  }
  ordered_json j = {{"version", version},
                    {"title", options_.title},
                    {"rate", options_.rate},
                    {"channels", options_.channels},
                    {"outputs", options_.outputs},
                    {"channels_shown", channels_shown_},
                    {"outputs_shown", outputs_shown_},
                    {"channel_names", options_.names},
                    {"names", output_names_},
                    {"frames", c.frames},
                    {"shown", {history_.begin(), history_.end()}},
                    {"frames_per_second", speed},
                    {"rank", c.rank},
                    {"settled", c.settled},
                    {"moved", c.moved},
                    {"learned", c.learned},
                    {"expected_error", a.expected_error ? ordered_json(*a.expected_error) : ordered_json()},
                    {"kurtosis", list_of(a.kurtosis)},
                    {"kurtosis_error", list_of(a.kurtosis_error)},
                    {"power", list_of(a.power)},
                    {"refused", c.refused},
                    {"outliers", c.outliers},
                    {"changes", changes_},
                    {"frozen", wishes_.frozen()},
                    {"writes", options_.writes_channels ? "channels" : "sources"},
                    {"model_file", options_.model_file},
                    {"ended", ended()}};
  j["in_use"] = ordered_json::array();  // outputs, from 1
  for (const Index k : outputs_in_use(snapshot_.unmixing)) j["in_use"].push_back(k + 1);
  j["may_be_mixed"] = ordered_json::array();
  for (const auto& [i, k] : a.unresolved) j["may_be_mixed"].push_back({i + 1, k + 1});
  j["muted"] = ordered_json::array();
  for (Index k = 0; k < options_.outputs; ++k) {
    if (wishes_.muted(k)) j["muted"].push_back(k + 1);
  }
  j["marks"] = ordered_json::array();
  for (const Mark& m : marks_) j["marks"].push_back({{"frame", m.frame}, {"text", m.text}});
  return text_of(j);
}

std::string Watch::output(Index output) {
  require_output(output);
  const std::lock_guard assessing(assessing_);
  const Vector<double> weights = assessment().weights.col(output);
  const Vector<double> mixing = assessment().mixing.col(output);
  Vector<double> latest;
  if (output < outputs_shown_) {
    const std::lock_guard lock(mutex_);
    latest = history_.latest(channels_shown_ + output, 16384);
  }
  return text_of({{"output", output + 1},
                  {"weights", list_of(weights)},
                  {"spectrum", spectrum(latest)},
                  {"map", map_of(options_.positions, mixing)}});
}

Model Watch::model() {
  const std::lock_guard assessing(assessing_);
  const Assessment& a = assessment();
  Snapshot snapshot;
  {
    const std::lock_guard lock(mutex_);
    snapshot = snapshot_;
  }
  Model model = model_of(snapshot, a, options_.stream);
  model.names = options_.names;
  add_names(model, snapshot.unmixing);
  return model;
}

void Watch::add_names(Model& model, const Matrix<double>& unmixing) const {
  const std::lock_guard lock(mutex_);
  const std::vector<Index> which = outputs_in_use(unmixing);
  for (std::size_t i = 0; i < which.size(); ++i) {
    const std::string& name = output_names_[static_cast<std::size_t>(which[i])];
    if (name != plain_name(which[i])) model.options["name of component " + std::to_string(i + 1)] = name;
  }
}

void Watch::require_output(Index output) const {
  if (output < 0 || output >= options_.outputs) {
    throw std::invalid_argument("output: expected 1 to " + std::to_string(options_.outputs) + ", got " +
                                std::to_string(output + 1));
  }
}

std::string Watch::name_of(Index output) const {
  const std::string number = plain_name(output);
  const std::lock_guard lock(mutex_);
  const std::string& name = output_names_[static_cast<std::size_t>(output)];
  return name == number ? number : number + " (" + name + ")";
}

// The frame that something is done at. With the lock held.
std::int64_t Watch::now() const { return std::max(history_.end(), snapshot_.counts.frames); }

std::string Watch::done(ordered_json action, const std::string& line) {
  std::int64_t frame = 0;
  std::string json;
  {
    const std::lock_guard lock(mutex_);
    frame = now();
    action["frame"] = frame;
    json = text_of(action);
    keep(events_, json, most_events);
    ++event_count_;
  }
  changed_.notify_all();
  if (options_.tell) options_.tell("frame " + std::to_string(frame) + ": " + line, json);
  return json;
}

std::string Watch::mute(Index output, bool on) {
  require_output(output);
  const bool one_pass = options_.stream.learn == StreamOptions::Learn::one_pass;
  if (options_.writes_channels && !one_pass) throw std::invalid_argument("mute: only with --learn one-pass");
  wishes_.mute(output, on);
  return done({{"action", on ? "mute" : "unmute"}, {"output", output + 1}},
              (on ? "mute " : "unmute ") + name_of(output));
}

std::string Watch::freeze(bool on) {
  wishes_.freeze(on);
  return done({{"action", on ? "freeze" : "resume"}}, on ? "learning frozen" : "learning resumed");
}

std::string Watch::rename(Index output, const std::string& name) {
  require_output(output);
  const std::string number = plain_name(output);
  const std::string to = name.empty() ? number : clean(name, "name", most_name);
  {
    const std::lock_guard lock(mutex_);
    output_names_[static_cast<std::size_t>(output)] = to;
  }
  return done({{"action", "rename"}, {"output", output + 1}, {"name", to}}, number + " is called " + to);
}

std::string Watch::mark(const std::string& text) {
  const std::string clean_text = clean(text, "text", most_text);
  {
    const std::lock_guard lock(mutex_);
    keep(marks_, Mark{now(), clean_text}, most_marks);
  }
  return done({{"action", "mark"}, {"text", clean_text}}, "mark " + clean_text);
}

std::string Watch::save() {
  if (options_.model_file.empty())
    throw std::invalid_argument("save: no file to save to; start the stream with --model FILE");
  const Model learned = model();
  io::save_model(options_.model_file, learned);
  return done({{"action", "save"}, {"file", options_.model_file}, {"samples", learned.samples}},
              "model saved to " + options_.model_file);
}

std::vector<std::string> Watch::events(std::uint64_t& last, std::chrono::milliseconds longest) {
  std::unique_lock lock(mutex_);
  changed_.wait_for(lock, longest, [&] { return event_count_ > last || ended_; });
  const auto fresh = std::min<std::uint64_t>(event_count_ - last, events_.size());
  last = event_count_;
  return {events_.end() - static_cast<std::ptrdiff_t>(fresh), events_.end()};
}

std::uint64_t Watch::last_event() const {
  const std::lock_guard lock(mutex_);
  return event_count_;
}

void Watch::finish() {
  ended_ = true;
  const std::lock_guard lock(mutex_);
  changed_.notify_all();
}

}  // namespace demix::live
