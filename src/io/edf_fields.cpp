#include "io/edf_fields.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <utility>

namespace demix::io::edf {
namespace {

constexpr std::size_t limit_width = 8;
constexpr double units_per_second = 1e5;         // of EDFlib
constexpr double shortest = 100, longest = 6e6;  // records: a millisecond to a minute

template <typename T>
std::optional<T> parsed(std::string_view field) {
  field = trimmed(field);
  if (field.size() > 1 && field[0] == '+' && field[1] != '-') field.remove_prefix(1);
  T value{};
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error != std::errc() || end != field.data() + field.size()) return std::nullopt;
  return value;
}

std::string general_text(double value, int digits) {
  char text[64];
  const auto end = std::to_chars(text, text + sizeof text, value, std::chars_format::general, digits).ptr;
  return {text, end};
}

// With as many digits as fit; one unit of the last of them further out where rounding went inwards.
std::string limit(double value, double outwards) {
  for (int digits = 7; digits > 0; --digits) {
    const double unit = value == 0 ? 0 : std::pow(10.0, std::floor(std::log10(std::abs(value))) + 1 - digits);
    for (const double step : {0.0, 1.0, 2.0}) {
      std::string text = general_text(value + outwards * step * unit, digits);
      const auto back = number(text);
      if (text.size() <= limit_width && back && (*back - value) * outwards >= 0) return text;
    }
  }
  return {};
}

// What stands for a character that is not ASCII.
std::string_view plain(std::string_view character) {
  if (character == "\u00b5" || character == "\u03bc") return "u";  // micro, mu
  if (character == "\u03a9" || character == "\u2126") return "Ohm";
  if (character == "\u00b0") return "deg";
  return "_";
}

std::size_t utf8_length(unsigned char first) {
  return first < 0xc0 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

}  // namespace

std::string_view trimmed(std::string_view field) {
  const auto first = field.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return field.substr(first, field.find_last_not_of(' ') + 1 - first);
}

std::optional<double> number(std::string_view field) {
  const auto value = parsed<double>(field);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<long long> whole_number(std::string_view field) { return parsed<long long>(field); }

std::string limit_below(double value) { return limit(value, -1); }
std::string limit_above(double value) { return limit(value, 1); }

std::string ascii(std::string_view text, std::size_t width) {
  std::string out;
  while (!text.empty()) {
    const auto byte = static_cast<unsigned char>(text[0]);
    const std::size_t length = std::min(utf8_length(byte), text.size());
    if (byte >= 0x80) {
      out += plain(text.substr(0, length));
    } else {
      out += byte < 32 || byte == 127 ? ' ' : text[0];
    }
    text.remove_prefix(length);
  }
  return std::string(trimmed(std::string(trimmed(out)).substr(0, width)));
}

std::vector<std::string> labels(const SignalInfo& info) {
  constexpr std::size_t width = 16;
  std::set<std::string> taken = {"", "EDF Annotations", "BDF Annotations"};
  std::vector<std::string> all;
  for (std::size_t c = 0; c < static_cast<std::size_t>(info.channels); ++c) {
    const std::string number = std::to_string(c + 1);
    const std::string whole = info.names.empty() ? "channel " + number : ascii(info.names[c], width);
    std::string label = whole.empty() ? "channel " + number : whole;
    for (int k = 2; taken.contains(label); ++k) {
      const std::string ending = std::string("-").append(std::to_string(k));
      label = whole.substr(0, width - ending.size()) + ending;
    }
    taken.insert(label);
    all.push_back(label);
  }
  return all;
}

std::string cut_utf8(std::string_view text, std::size_t bytes) {
  if (text.size() <= bytes) return std::string(text);
  while (bytes > 0 && (static_cast<unsigned char>(text[bytes]) & 0xc0) == 0x80) --bytes;
  return std::string(text.substr(0, bytes));
}

std::optional<Record> choose_record(double rate, Index frames, Index most) {
  std::optional<Record> best;
  // Frames that would have to be made up at the end, then the distance from a second.
  const auto cost = [&](const Record& r) {
    return std::pair((r.frames - frames % r.frames) % r.frames, std::abs(std::log(r.seconds())));
  };
  most = std::min(most, static_cast<Index>(std::min(1e9, rate * longest / units_per_second * (1 + 1e-9))));
  for (Index n = 1; n <= most; ++n) {
    const double exact = static_cast<double>(n) * units_per_second / rate;
    const double units = std::round(exact);
    if (units < shortest || units > longest || std::abs(exact - units) > 1e-9 * units) continue;
    const Record record{n, static_cast<int>(units)};
    if (!best || cost(record) < cost(*best)) best = record;
  }
  return best;
}

std::optional<Record> record_with_others(const SignalInfo& info) {
  if (!info.others) return {};
  const OtherSignals& others = *info.others;
  constexpr Index most_signals = 511;       // of EDFlib, and one for annotations
  constexpr Index most_samples = 10 << 18;  // 10 MB of 32 bits
  Index samples = info.channels * others.frames;
  for (const OtherSignals::Signal& s : others.signals) samples += s.samples;
  const double exact = others.seconds * units_per_second;
  const double units = std::round(exact);
  const bool fits = units >= shortest && units <= longest && std::abs(exact - units) < 1e-9 * units &&
                    info.channels + std::ssize(others.signals) <= most_signals && samples <= most_samples;
  const bool is_whole = info.frames == others.records * others.frames;
  if (!fits || !is_whole) return {};
  return Record{others.frames, static_cast<int>(units)};
}

}  // namespace demix::io::edf
