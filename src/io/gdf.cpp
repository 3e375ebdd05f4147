#include <cmath>
#include <cstdio>
#include <fstream>

#include "io/bytes.hpp"
#include "io/edf_fields.hpp"
#include "io/failure.hpp"
#include "io/named_arrays.hpp"
#include "io/orientation.hpp"
#include "io/records.hpp"
#include "io/utf.hpp"

/// GDF, the general data format for biosignals, of versions 1 and 2: EDF's records with binary headers,
/// samples of any type, and a table of events behind them.
namespace demix::io {
namespace {

constexpr std::size_t part = 256;  // bytes of the header, and of what each signal adds to it

struct Header {
  double version = 0;
  std::string start;
  Records records;
  std::vector<std::string> notes;
};

NumberType gdf_type(std::uint32_t code) {
  constexpr std::string_view kinds = " iuiuiuiu", bytes = "011224488";
  if (code >= 1 && code <= 8) return number_type(kinds[code], static_cast<std::size_t>(bytes[code] - '0'));
  if (code == 16) return number_type('f', 4);
  if (code == 17) return number_type('f', 8);
  return code == 279 ? int24_type() : NumberType{};
}

// A number and a prefix, by ISO/IEEE 11073-10101.
std::string unit_of(std::uint16_t code) {
  std::string unit;
  if ((code & 0xffe0) == 4256) unit = "V";
  if ((code & 0xffe0) == 6048) unit = "\u00b0C";
  switch (code & 31) {
    case 18:
      return unit.empty() ? unit : "m" + unit;
    case 19:
      return unit.empty() ? unit : "u" + unit;
    case 20:
      return unit.empty() ? unit : "n" + unit;
    default:
      return unit;
  }
}

std::string text_field(std::string_view bytes) {
  return as_utf8(edf::trimmed(bytes.substr(0, std::min(bytes.find('\0'), bytes.size()))));
}

// The fields of a signal stand together for all signals, after `before` bytes of other fields.
struct Fields {
  const std::string& text;
  std::size_t signals;
  const char* at(std::size_t before, std::size_t width, std::size_t i) const {
    return text.data() + part + before * signals + width * i;
  }
};

RecordSignal parse_signal(const Fields& f, std::size_t i, double version, const std::string& name) {
  RecordSignal s;
  s.label = text_field({f.at(0, 16, i), 16});
  double most = 0, high = 0;
  std::uint32_t type = 0;
  if (version < 1.9) {
    s.unit = text_field({f.at(96, 8, i), 8});
    s.least = load<double>(f.at(104, 8, i));
    most = load<double>(f.at(112, 8, i));
    s.least_digital = load_real<std::int64_t>(f.at(120, 8, i));
    high = load_real<std::int64_t>(f.at(128, 8, i));
    s.samples = load<std::uint32_t>(f.at(216, 4, i));
    type = load<std::uint32_t>(f.at(220, 4, i));
  } else {
    s.unit = unit_of(load<std::uint16_t>(f.at(102, 2, i)));
    s.least = load<double>(f.at(104, 8, i));
    most = load<double>(f.at(112, 8, i));
    s.least_digital = load<double>(f.at(120, 8, i));
    high = load<double>(f.at(128, 8, i));
    s.samples = load<std::uint32_t>(f.at(216, 4, i));
    type = load<std::uint32_t>(f.at(220, 4, i));
  }
  const std::string who = name + ": signal " + std::to_string(i + 1) + " (" + printable(s.label) + ") ";
  s.type = gdf_type(type);
  s.scale = (most - s.least) / (high - s.least_digital);
  if (s.type.decode == nullptr)
    throw Error(who + "is of type " + std::to_string(type) + ", which is not supported");
  if (s.samples < 1) throw Error(who + "has no samples; it is damaged");
  if (!std::isfinite(s.scale) || s.scale == 0 || !std::isfinite(s.least) || !std::isfinite(s.least_digital))
    throw Error(who + "has limits that are equal or not numbers; it cannot be scaled");
  return s;
}

// Days since the year 0, with 32 binary places.
std::string date_of(std::uint64_t time) {
  if (time == 0) return "";
  const double days = static_cast<double>(time) * 0x1p-32 - 719529;  // since 1970
  if (!(std::abs(days) < 1e6)) return "";
  // Civil from days, by eras of 400 years that begin in March.
  const auto whole = static_cast<long>(std::floor(days));
  const auto second = std::min(86399L, std::lround((days - static_cast<double>(whole)) * 86400));
  const long z = whole + 719468, era = (z >= 0 ? z : z - 146096) / 146097, doe = z - era * 146097;
  const long yoe = (doe - doe / 1460 + doe / 36524 - doe / 146096) / 365;
  const long doy = doe - (365 * yoe + yoe / 4 - yoe / 100), mp = (5 * doy + 2) / 153;
  const long month = mp < 10 ? mp + 3 : mp - 9, year = yoe + era * 400 + (month <= 2 ? 1 : 0);
  char text[160];
  std::snprintf(text, sizeof text, "%04ld-%02ld-%02ldT%02ld:%02ld:%02ld", year, month,
                doy - (153 * mp + 2) / 5 + 1, second / 3600, second / 60 % 60, second % 60);
  return text;
}

// "2007061410203000", of version 1.
std::string start_of(std::string_view text) {
  if (text.size() < 14 || text.substr(0, 14).find_first_not_of("0123456789") != std::string_view::npos)
    return "";
  const std::string t(text);
  return t.substr(0, 4) + "-" + t.substr(4, 2) + "-" + t.substr(6, 2) + "T" + t.substr(8, 2) + ":" +
         t.substr(10, 2) + ":" + t.substr(12, 2);
}

Header parse_header(std::ifstream& in, std::uint64_t bytes, const std::string& name) {
  std::string text(part, '\0');
  if (bytes == 0) throw Error(name + ": the file is empty");
  in.read(text.data(), part);
  if (!text.starts_with("GDF ")) throw Error(name + ": not a GDF file");
  if (bytes < part) throw Error(name + ": is cut off in its header");
  Header h;
  const auto version = edf::number(std::string_view(text).substr(4, 4));
  if (!version || !(*version >= 1 && *version < 3)) {
    throw Error(name + ": is of GDF version '" + printable(text.substr(4, 4)) + "'; 1.x and 2.x are read");
  }
  h.version = *version;
  const bool first = h.version < 1.9;
  h.start = first ? start_of(std::string_view(text).substr(168, 16))
                  : date_of(load<std::uint64_t>(text.data() + 168));
  const std::uint64_t n =
      first ? load<std::uint32_t>(text.data() + 252) : load<std::uint16_t>(text.data() + 252);
  if (n < 1 || n > most_channels)
    throw Error(name + ": its header announces " + std::to_string(n) + " signals");
  Records& r = h.records;
  r.first = first ? load<std::uint64_t>(text.data() + 184)
                  : std::uint64_t{load<std::uint16_t>(text.data() + 184)} * part;
  if (r.first < part * (n + 1) || r.first > bytes)
    throw Error(name + ": is cut off or damaged in its header");
  text.resize(part * (n + 1));
  if (!in.read(text.data() + part, static_cast<std::streamsize>(part * n)))
    throw Error(name + ": is cut off in its header");
  const double up = load_real<std::uint32_t>(text.data() + 244),
               down = load_real<std::uint32_t>(text.data() + 248);
  r.seconds = down > 0 ? up / down : 0;
  for (std::size_t i = 0; i < n; ++i) {
    r.signals.push_back(parse_signal({text, static_cast<std::size_t>(n)}, i, h.version, name));
    r.signals.back().offset = r.bytes;
    r.bytes += static_cast<std::uint64_t>(r.signals.back().samples) * r.signals.back().type.bytes;
  }
  if (r.bytes > (std::uint64_t{64} << 20)) {
    throw Error(name + ": its header announces records of " + std::to_string(r.bytes) +
                " bytes; it is damaged");
  }
  const auto records = load<std::int64_t>(text.data() + 236);
  const std::uint64_t there = (bytes - r.first) / r.bytes;
  if (records == -1) {
    h.notes.push_back(name + ": was not closed by the program that recorded it; its " +
                      std::to_string(there) + " whole records are read");
  } else if (records < 0 || static_cast<std::uint64_t>(records) > there) {
    throw Error(name + ": its header announces " + std::to_string(records) + " records, the file holds " +
                std::to_string(there) + "; it is cut off or damaged");
  }
  r.count = records == -1 ? there : static_cast<std::uint64_t>(records);
  if (r.count == 0) throw Error(name + ": holds no records");
  return h;
}

// Mode, rate and number; then positions from 1, types, and in mode 3 channels and durations, in frames.
void read_events(std::ifstream& in, const Header& h, std::uint64_t bytes, SignalInfo& info,
                 const std::string& name) {
  const std::uint64_t at = h.records.first + h.records.count * h.records.bytes;
  if (at + 8 > bytes) return;
  std::string head(8, '\0');
  in.clear();
  in.seekg(static_cast<std::streamoff>(at));
  in.read(head.data(), 8);
  const bool old = h.version < 1.94;
  const std::size_t n = old ? load<std::uint32_t>(head.data() + 4) : load<std::uint32_t>(head.data()) >> 8;
  const bool long_form = head[0] == 3;
  const std::size_t each = long_form ? 12 : 6;
  if ((head[0] != 1 && !long_form) || n == 0) return;
  if (n > (bytes - at - 8) / each) {
    info.notes.push_back(name + ": its table of events is cut off; it is left out");
    return;
  }
  std::string table(n * each, '\0');
  in.read(table.data(), static_cast<std::streamsize>(table.size()));
  for (std::size_t k = 0; k < n; ++k) {
    const double position = load_real<std::uint32_t>(table.data() + 4 * k);
    const auto type = load<std::uint16_t>(table.data() + 4 * n + 2 * k);
    const double frames = long_form ? load_real<std::uint32_t>(table.data() + 8 * n + 4 * k) : 1;
    info.annotations.push_back(
        {(position - 1) / info.rate, std::max(frames, 1.0) / info.rate, std::to_string(type)});
  }
}

}  // namespace

Reader open_gdf(const Path& file, const ReadOptions&) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw failure(file, "cannot open");
  const std::uint64_t bytes = std::filesystem::file_size(file);
  const Header header = parse_header(in, bytes, file.string());
  SignalInfo info;
  info.start = header.start;
  info.notes = header.notes;
  info.rate = open_records(file, header.records, info)->info().rate;  // of most channels
  read_events(in, header, bytes, info, file.string());
  return open_records(file, header.records, std::move(info));
}

}  // namespace demix::io
