#include "demix/stream_separator.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/archive.hpp"
#include "core/checksum.hpp"
#include "online/stream_engine.hpp"

namespace demix {

void StreamOptions::validate(Index channels) const {
  if (channels < 1)
    throw std::invalid_argument("channels: expected at least 1, got " + std::to_string(channels));
  if (components < 0 || components > channels) {
    throw std::invalid_argument("components: expected 0 to " + std::to_string(channels) + ", got " +
                                std::to_string(components));
  }
  if (!(memory == 0 || (memory >= least_memory && memory <= most_memory))) {
    throw std::invalid_argument("memory: expected 0 (for ever) or 1024 to 1e15 frames, got " +
                                std::to_string(memory));
  }
  if (!(saturation >= 0 && std::isfinite(saturation)))
    throw std::invalid_argument("saturation: expected 0 or more, got " + std::to_string(saturation));
  if (replay < 1)
    throw std::invalid_argument("replay: expected at least 1 frame, got " + std::to_string(replay));
  if (learn != Learn::one_pass && (memory > 0 || robust)) {
    throw std::invalid_argument("memory, robust: only with learn = one-pass");
  }
  if (filter_output && filter.empty()) throw std::invalid_argument("filter_output: there is no filter");
  if (learn != Learn::one_pass && !filter.empty())
    throw std::invalid_argument("filter: only with learn = one-pass");
  if (filter.size() > most_sections) {
    throw std::invalid_argument("filter: expected at most " + std::to_string(most_sections) +
                                " sections, got " + std::to_string(filter.size()));
  }
  for (const FilterSection& section : filter) {
    if (!section.is_stable()) throw std::invalid_argument("filter: it is not stable");
  }
  if (learn == Learn::one_pass && weight != Weight::square) {
    throw std::invalid_argument("weight: only with learn = replay or frame");
  }
}

std::string_view learn_name(StreamOptions::Learn learn) {
  switch (learn) {
    case StreamOptions::Learn::one_pass:
      return "one-pass";
    case StreamOptions::Learn::replay:
      return "replay";
    case StreamOptions::Learn::frame:
      return "frame";
  }
  return "";
}

StreamOptions::Learn learn_named(std::string_view name) {
  for (const auto learn :
       {StreamOptions::Learn::one_pass, StreamOptions::Learn::replay, StreamOptions::Learn::frame}) {
    if (learn_name(learn) == name) return learn;
  }
  throw std::invalid_argument("learn: expected one-pass, replay or frame, got '" + std::string(name) + "'");
}

template <typename T>
StreamSeparator<T>::StreamSeparator(Index channels, const StreamOptions& options)
    : engine_(std::make_unique<StreamEngine>(channels, options,
                                             static_cast<double>(std::numeric_limits<T>::epsilon()))) {}
template <typename T>
StreamSeparator<T>::~StreamSeparator() = default;
template <typename T>
StreamSeparator<T>::StreamSeparator(const StreamSeparator& other)
    : engine_(std::make_unique<StreamEngine>(*other.engine_)) {}
template <typename T>
StreamSeparator<T>& StreamSeparator<T>::operator=(const StreamSeparator& other) {
  if (this != &other) *engine_ = *other.engine_;
  return *this;
}
template <typename T>
StreamSeparator<T>::StreamSeparator(StreamSeparator&&) noexcept = default;
template <typename T>
StreamSeparator<T>& StreamSeparator<T>::operator=(StreamSeparator&&) noexcept = default;

template <typename T>
bool StreamSeparator<T>::step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y) {
  StreamEngine& s = *engine_;
  if (x.size() != s.channels() || y.size() != s.outputs()) {
    throw std::invalid_argument("step: expected " + std::to_string(s.channels()) + " inputs and " +
                                std::to_string(s.outputs()) + " outputs, got " + std::to_string(x.size()) +
                                " and " + std::to_string(y.size()));
  }
  s.x.head(x.size()) = x.template cast<double>();
  const bool usable = s.step();
  if constexpr (std::is_same_v<T, float>) {  // beyond the range of float is its end, not Inf
    constexpr double end = std::numeric_limits<float>::max();
    y = s.y.head(y.size()).cwiseMax(-end).cwiseMin(end).template cast<float>();
  } else {
    y = s.y.head(y.size());
  }
  return usable;
}

template <typename T>
Index StreamSeparator<T>::process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y) {
  if (X.rows() != channels() || Y.rows() != outputs() || Y.cols() != X.cols()) {
    throw std::invalid_argument("process: X must have " + std::to_string(channels()) + " rows, Y " +
                                std::to_string(outputs()) + ", and as many columns as each other");
  }
  Index refused = 0;
  for (Index t = 0; t < X.cols(); ++t) refused += !step(X.col(t), Y.col(t));
  return refused;
}

template <typename T>
Index StreamSeparator<T>::channels() const {
  return engine_->channels();
}
template <typename T>
Index StreamSeparator<T>::outputs() const {
  return engine_->outputs();
}
template <typename T>
Index StreamSeparator<T>::block() const {
  return engine_->block();
}
template <typename T>
std::int64_t StreamSeparator<T>::frames() const {
  return engine_->frames();
}
template <typename T>
const StreamOptions& StreamSeparator<T>::options() const {
  return engine_->options();
}
template <typename T>
Matrix<double> StreamSeparator<T>::unmixing() const {
  return engine_->unmixing();
}
template <typename T>
void StreamSeparator<T>::copy_unmixing(Matrix<double>& U) const {
  engine_->copy_unmixing(U);
}
template <typename T>
void StreamSeparator<T>::freeze(bool frozen) {
  engine_->freeze(frozen);
}
template <typename T>
bool StreamSeparator<T>::frozen() const {
  return engine_->frozen();
}
template <typename T>
StreamCounts StreamSeparator<T>::counts() const {
  return engine_->counts();
}
template <typename T>
void StreamSeparator<T>::start(const Model& model, bool freeze) {
  engine_->start(model, freeze);
}
template <typename T>
const Matrix<double>& StreamSeparator<T>::mixing() const {
  return engine_->mixing();
}
template <typename T>
const Vector<double>& StreamSeparator<T>::mean() const {
  return engine_->mean();
}
template <typename T>
Eigen::Ref<const Vector<double>> StreamSeparator<T>::filtered() const {
  return engine_->learned_frame();
}
template <typename T>
StreamStatus StreamSeparator<T>::status() const {
  return engine_->status();
}
template <typename T>
void StreamSeparator<T>::finish() {
  engine_->finish();
}
template <typename T>
void StreamSeparator<T>::note(NetworkTrace& trace) const {
  engine_->note(trace);
}
template <typename T>
Model StreamSeparator<T>::model() const {
  StreamEngine done(*engine_);
  done.finish();
  return done.model();
}

namespace {

constexpr std::string_view magic = "demix stream state 4\n";

// What is needed to make the object before its fields are loaded.
struct Header {
  Index channels = 0;
  int scalar = 0;
  StreamOptions options;
  std::size_t sections = 0;  // of the filter
  template <typename Archive>
  void fields(Archive& a) {
    a(channels, scalar, options.learn, options.components, options.memory, options.robust, options.saturation,
      options.replay, options.seed, options.weight, options.filter_output, sections);
    require_state(sections <= StreamOptions::most_sections, "too long a filter");
    options.filter.resize(sections);
    a(options.filter);
  }
  void loaded() const {
    using Learn = StreamOptions::Learn;
    require_state(options.learn >= Learn::one_pass && options.learn <= Learn::frame, "no such way to learn");
    require_state(options.weight >= Weight::square && options.weight <= Weight::fourth, "no such weight");
    try {
      options.validate(channels);
    } catch (const std::invalid_argument& e) {
      throw std::invalid_argument(std::string("state: ") + e.what());
    }
  }
};

}  // namespace

template <typename T>
std::string StreamSeparator<T>::state() const {
  Saver saver;
  Header header{engine_->channels(), sizeof(T), engine_->options(), engine_->options().filter.size()};
  saver(header, *engine_);
  std::uint64_t sum = checksum(saver.bytes);
  std::string out(magic);
  out.append(reinterpret_cast<const char*>(&sum), sizeof sum);
  return out + saver.bytes;
}

template <typename T>
StreamSeparator<T> StreamSeparator<T>::restore(std::string_view state) {
  std::uint64_t sum = 0;
  if (state.substr(0, magic.size()) != magic || state.size() < magic.size() + sizeof sum) {
    throw std::invalid_argument("state: not a stream state of this version of demix");
  }
  std::memcpy(&sum, state.data() + magic.size(), sizeof sum);
  state.remove_prefix(magic.size() + sizeof sum);
  if (sum != checksum(state)) throw std::invalid_argument("state: damaged (its checksum does not fit)");
  Loader loader(state);
  Header header;
  loader(header);
  if (header.scalar != sizeof(T)) throw std::invalid_argument("state: of another scalar type");
  // Before memory is taken for what is not there.
  require_state(
      StreamEngine::least_bytes(header.channels, header.options) <= static_cast<double>(state.size()),
      "it ends too early");
  StreamSeparator out(header.channels, header.options);
  loader(*out.engine_);
  if (!loader.done()) throw std::invalid_argument("state: longer than it should be");
  return out;
}

template class StreamSeparator<float>;
template class StreamSeparator<double>;

}  // namespace demix
