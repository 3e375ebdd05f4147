#include <algorithm>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>

#include "io/bytes.hpp"
#include "io/edf_fields.hpp"
#include "io/failure.hpp"
#include "io/file_bytes.hpp"
#include "io/format_files.hpp"
#include "io/named_arrays.hpp"
#include "io/numbers.hpp"
#include "io/orientation.hpp"
#include "io/utf.hpp"

/// XDF, what LabRecorder writes: streams of several devices in chunks, with the offsets of their clocks. One
/// stream of numbers is read, the markers of all others beside it. Read here, so that values are those stored
/// and a clock that was reset is corrected piece by piece.
namespace demix::io {
namespace {

struct ClockOffset {
  double time = 0, value = 0;
};

struct Stream {
  std::string name, type, format;
  std::uint64_t channels = 0;
  double rate = 0;
  std::vector<std::string> labels, units, types;
  NumberType number;               // of a value; of no bytes: text
  std::vector<double> values;      // frame after frame
  std::vector<double> times;       // of each frame, by the stream's own clock; NaN: not told
  std::vector<std::string> texts;  // of markers
  std::vector<ClockOffset> offsets;
};

// The text of the first <tag> in an XML text, and what is left behind it.
std::string element(std::string_view xml, std::string_view tag, std::size_t* behind = nullptr) {
  const std::string open = "<" + std::string(tag) + ">", close = "</" + std::string(tag) + ">";
  const std::size_t from = xml.find(open);
  const std::size_t to = from == std::string_view::npos ? from : xml.find(close, from);
  if (to == std::string_view::npos) return "";
  if (behind) *behind = to + close.size();
  std::string text(edf::trimmed(xml.substr(from + open.size(), to - from - open.size())));
  for (const auto& [code, c] :
       {std::pair{"&lt;", '<'}, {"&gt;", '>'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&amp;", '&'}}) {
    for (std::size_t at = text.find(code); at != std::string::npos; at = text.find(code, at + 1))
      text.replace(at, std::string_view(code).size(), 1, c);
  }
  return as_utf8(text);
}

NumberType type_of(const std::string& format) {
  if (format == "float32") return number_type('f', 4);
  if (format == "double64") return number_type('f', 8);
  if (format == "int8") return number_type('i', 1);
  if (format == "int16") return number_type('i', 2);
  if (format == "int32") return number_type('i', 4);
  if (format == "int64") return number_type('i', 8);
  return {};
}

class File {
 public:
  explicit File(const Path& path)
      : name_(path.string()), bytes_(Part::all(std::make_shared<const FileBytes>(path))) {
    if (bytes_.size == 0) throw Error(name_ + ": the file is empty");
    if (bytes_.copy(0, 4) != "XDF:") throw Error(name_ + ": not an XDF file");
    at_ = 4;
    while (at_ < bytes_.size) read_chunk();
  }
  std::map<std::uint32_t, Stream>& streams() { return streams_; }
  const std::vector<std::string>& notes() const { return notes_; }

 private:
  Error cut_off() const { return Error(name_ + ": ends within a chunk; it is cut off or damaged"); }

  std::uint64_t length_at(const std::string& b, std::size_t& at) const {
    if (at >= b.size()) throw cut_off();
    const auto width = static_cast<std::size_t>(static_cast<unsigned char>(b[at++]));
    if ((width != 1 && width != 4 && width != 8) || b.size() - at < width) throw cut_off();
    const char* p = b.data() + at;
    at += width;
    return width == 1   ? static_cast<unsigned char>(*p)
           : width == 4 ? load<std::uint32_t>(p)
                        : load<std::uint64_t>(p);
  }

  void read_chunk() {
    const std::string head = bytes_.copy(at_, 11);
    std::size_t used = 0;
    const std::uint64_t length = length_at(head, used);
    if (length < 2 || head.size() < used + 2 || length > bytes_.size - at_ - used) {
      throw cut_off();
    }
    const auto tag = load<std::uint16_t>(head.data() + used);
    const bool has_stream = tag == 2 || tag == 3 || tag == 4 || tag == 6;
    if (has_stream) {
      const std::string content = bytes_.copy(at_ + used + 2, length - 2);
      if (content.size() < 4) throw cut_off();
      const auto id = load<std::uint32_t>(content.data());
      if (tag == 2) add_stream(streams_[id], content.substr(4));
      if (tag == 3) add_samples(found(id), content);
      if (tag == 4 && content.size() >= 20)
        found(id).offsets.push_back({load<double>(content.data() + 4), load<double>(content.data() + 12)});
    }
    at_ += used + length;
  }

  Stream& found(std::uint32_t id) {
    const auto stream = streams_.find(id);
    if (stream == streams_.end())
      throw Error(name_ + ": has samples of a stream without a header; it is damaged");
    return stream->second;
  }

  void add_stream(Stream& s, const std::string& xml) {
    s = {};
    s.name = element(xml, "name");
    s.type = element(xml, "type");
    s.format = element(xml, "channel_format");
    s.rate = edf::number(element(xml, "nominal_srate")).value_or(0);
    if (!(s.rate > 0) || !std::isfinite(s.rate)) s.rate = 0;
    const auto channels = edf::whole_number(element(xml, "channel_count"));
    if (!channels || *channels < 1 || static_cast<std::uint64_t>(*channels) > most_channels) {
      throw Error(name_ + ": stream '" + printable(s.name) +
                  "' has no proper number of channels; it is damaged");
    }
    s.channels = static_cast<std::uint64_t>(*channels);
    s.number = type_of(s.format);
    if (s.number.bytes == 0 && s.format != "string") {
      throw Error(name_ + ": stream '" + printable(s.name) + "' holds '" + printable(s.format) +
                  "', which is not supported");
    }
    std::string_view rest = xml;
    while (s.labels.size() < s.channels) {
      std::size_t behind = 0;
      const std::string channel = element(rest, "channel", &behind);
      if (behind == 0) break;
      s.labels.push_back(element(channel, "label"));
      s.units.push_back(element(channel, "unit"));
      s.types.push_back(element(channel, "type"));
      rest.remove_prefix(behind);
    }
  }

  void add_samples(Stream& s, const std::string& b) const {
    std::size_t at = 4;
    const std::uint64_t samples = length_at(b, at);
    const std::size_t frame_bytes = s.channels * s.number.bytes;
    for (std::uint64_t k = 0; k < samples; ++k) {
      if (at >= b.size()) throw cut_off();
      const auto width = static_cast<unsigned char>(b[at++]);
      if ((width != 0 && width != 8) || b.size() - at < width) throw cut_off();
      s.times.push_back(width == 8 ? load<double>(b.data() + at) : NAN);
      at += width;
      if (s.number.bytes > 0) {
        if (b.size() - at < frame_bytes) throw cut_off();
        s.values.resize(s.values.size() + s.channels);
        s.number.decode(b.data() + at, static_cast<Index>(s.channels),
                        s.values.data() + s.values.size() - s.channels);
        at += frame_bytes;
        continue;
      }
      std::string text;
      for (std::uint64_t c = 0; c < s.channels; ++c) {
        const std::uint64_t length = length_at(b, at);
        if (length > b.size() - at) throw cut_off();
        text += (c == 0 ? "" : " ") + b.substr(at, length);
        at += length;
      }
      s.texts.push_back(as_utf8(text));
    }
  }

  std::string name_;
  Part bytes_;
  std::uint64_t at_ = 0;
  std::map<std::uint32_t, Stream> streams_;
  std::vector<std::string> notes_;
};

// Least squares of offset over time, among the offsets [from, to).
struct Line {
  double at = 0, value = 0, slope = 0;
  double operator()(double t) const { return value + slope * (t - at); }
};

Line fit(const std::vector<ClockOffset>& offsets, std::size_t from, std::size_t to) {
  Line line;
  const auto n = static_cast<double>(to - from);
  for (std::size_t k = from; k < to; ++k) {
    line.at += offsets[k].time / n;
    line.value += offsets[k].value / n;
  }
  double xx = 0, xy = 0;
  for (std::size_t k = from; k < to; ++k) {
    xx += (offsets[k].time - line.at) * (offsets[k].time - line.at);
    xy += (offsets[k].time - line.at) * (offsets[k].value - line.value);
  }
  line.slope = xx > 0 ? xy / xx : 0;
  return line;
}

// Times of all frames by the recorder's clock: missing ones follow the last at the nominal rate; a line of
// offsets is taken off between resets of the clock, which are where it jumps (by more than 5 s, or back).
void synchronise(Stream& s) {
  for (std::size_t k = 0; k < s.times.size(); ++k) {
    if (std::isnan(s.times[k])) s.times[k] = k == 0 ? 0 : s.times[k - 1] + (s.rate > 0 ? 1 / s.rate : 0);
  }
  if (s.offsets.empty()) return;
  std::vector<std::size_t> starts = {0};
  for (std::size_t k = 1; k < s.offsets.size(); ++k) {
    const double step = s.offsets[k].time - s.offsets[k - 1].time;
    const double jump = std::abs(s.offsets[k].value - s.offsets[k - 1].value);
    if (step < 0 || (jump > 1 && jump > 0.5 * step) || step > 1000) starts.push_back(k);
  }
  starts.push_back(s.offsets.size());
  std::size_t segment = 0;
  std::vector<Line> lines;
  for (std::size_t k = 0; k + 1 < starts.size(); ++k)
    lines.push_back(fit(s.offsets, starts[k], starts[k + 1]));
  std::vector<double> own = s.times;
  for (std::size_t k = 0; k < own.size(); ++k) {
    // The clock was reset where the stream's own time goes back, or jumps far ahead.
    const bool jumps = k > 0 && (own[k] < own[k - 1] - 1 || own[k] > own[k - 1] + 1000);
    if (jumps && segment + 1 < lines.size()) ++segment;
    s.times[k] = own[k] + lines[segment](own[k]);
  }
}

const Stream& choose(std::map<std::uint32_t, Stream>& streams, const std::string& asked, const Path& file,
                     SignalInfo& info) {
  const Stream* best = nullptr;
  std::string all;
  int candidates = 0;
  for (const auto& [id, s] : streams) {
    if (s.number.bytes == 0 || s.times.empty()) continue;
    all += (all.empty() ? "" : ", ") + ("'" + printable(s.name) + "'");
    if (!asked.empty() && s.name != asked) continue;
    ++candidates;
    const auto rank = [](const Stream& x) {
      return std::tuple(x.type == "EEG", x.rate > 0, x.channels, x.times.size());
    };
    if (best == nullptr || rank(s) > rank(*best)) best = &s;
  }
  if (best == nullptr) {
    throw Error(file.string() + ": has no stream of numbers" +
                (asked.empty() ? "" : " called '" + printable(asked) + "'") +
                (all.empty() ? "" : "; there are " + all));
  }
  if (candidates > 1) {
    info.notes.push_back(file.string() + ": has several streams of numbers (" + all + "); '" +
                         printable(best->name) + "' is read; name another with `variable`");
  }
  return *best;
}

class XdfReader final : public SignalReader {
 public:
  XdfReader(const Path& file, const ReadOptions& options) {
    File xdf(file);
    for (auto& [id, s] : xdf.streams()) synchronise(s);
    const Stream& s = choose(xdf.streams(), options.variable, file, info_);
    info_.channels = static_cast<Index>(s.channels);
    info_.frames = static_cast<Index>(s.times.size());
    info_.rate = s.rate > 0 ? s.rate : options.rate;
    resolution_ = s.number.resolution;
    values_ = Eigen::Map<const Matrix<double>>(s.values.data(), info_.channels, info_.frames);
    describe(s);
    add_markers(xdf.streams(), s);
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { at_ = 0; }
  double resolution() const override { return resolution_; }
  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index n = std::min(out.cols(), values_.cols() - at_);
    out.leftCols(n) = values_.middleCols(at_, n);
    at_ += n;
    return n;
  }

 private:
  void describe(const Stream& s) {
    if (s.labels.size() != s.channels) return;
    const auto any = [](const std::vector<std::string>& list) {
      return std::ranges::any_of(list, [](const std::string& t) { return !t.empty(); });
    };
    if (any(s.labels)) info_.names = s.labels;
    if (any(s.units)) info_.units = s.units;
    for (std::string& unit : info_.units) {
      if (unit == "microvolts") unit = "uV";
    }
    info_.types.assign(s.labels.size(), ChannelType::unknown);
    for (std::size_t i = 0; i < s.types.size(); ++i) {
      const std::string& type = s.types[i].empty() ? s.type : s.types[i];
      info_.types[i] = type_named(type).value_or(ChannelType::unknown);
    }
  }

  // Of all streams of text, at the time of the frames; gaps in the frames are boundaries.
  void add_markers(const std::map<std::uint32_t, Stream>& streams, const Stream& s) {
    if (!(info_.rate > 0)) return;
    const std::vector<double>& times = s.times;
    std::vector<double> ordered = times;
    for (std::size_t k = 1; k < ordered.size(); ++k) ordered[k] = std::max(ordered[k], ordered[k - 1]);
    const auto seconds_of = [&](double time) {
      const auto after = std::ranges::upper_bound(ordered, time);
      if (after == ordered.begin()) return time - ordered.front();
      const auto frame = after - ordered.begin() - 1;
      const double beyond = time - ordered[static_cast<std::size_t>(frame)];
      return static_cast<double>(frame) / info_.rate +
             (after == ordered.end() ? beyond : std::min(beyond, 1 / info_.rate));
    };
    for (const auto& [id, marks] : streams) {
      if (marks.number.bytes > 0) continue;
      for (std::size_t k = 0; k < marks.texts.size(); ++k)
        info_.annotations.push_back({seconds_of(marks.times[k]), -1, marks.texts[k]});
    }
    const double longest = std::max(1.0, 2 / info_.rate);
    for (std::size_t k = 1; k < times.size(); ++k) {
      if (std::abs(times[k] - times[k - 1]) > longest)
        info_.annotations.push_back({static_cast<double>(k) / info_.rate, -1, "boundary"});
    }
    std::ranges::stable_sort(info_.annotations, {}, &Annotation::onset);
  }

  SignalInfo info_;
  Matrix<double> values_;
  double resolution_ = 0;
  Index at_ = 0;
};

}  // namespace

Reader open_xdf(const Path& file, const ReadOptions& options) {
  return std::make_unique<XdfReader>(file, options);
}

}  // namespace demix::io
