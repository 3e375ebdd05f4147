#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>

#include "io/edf_annotations.hpp"
#include "io/edf_fields.hpp"
#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/records.hpp"
#include "io/utf.hpp"

/// EDF, EDF+, BDF and BDF+. Read here and not by EDFlib, which refuses what many programs write: dates out of
/// range, annotations that overlap, files that were never closed. Samples lie in records of one size.
namespace demix::io {
namespace {

constexpr std::uint64_t not_closed = ~std::uint64_t{0};  // as the number of records
constexpr int most_signals = 9999;
constexpr std::size_t part = 256;  // bytes of the header, and of what each signal adds to it

struct Header {
  std::size_t width = 2;  // bytes of a sample
  bool has_gaps = false;  // perhaps, between its records
  std::string start;
  std::vector<std::string> notes;
  Records records;
};

std::string read_start(std::ifstream& in, std::size_t bytes) {
  std::string text(bytes, '\0');
  in.clear();
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

long long whole(std::string_view text, std::size_t at, std::size_t width, const std::string& what,
                const std::string& name) {
  const auto value = edf::whole_number(text.substr(at, width));
  if (!value) {
    throw Error(name + ": " + what + " is '" + std::string(edf::trimmed(text.substr(at, width))) +
                "' in its header where a whole number is expected; it is damaged");
  }
  return *value;
}

double real(std::string_view text, std::size_t at, const std::string& what, const std::string& name) {
  std::string field(text.substr(at, 8));
  std::ranges::replace(field, ',', '.');  // as some programs write it
  const auto value = edf::number(field);
  if (!value) {
    throw Error(name + ": " + what + " is '" + std::string(edf::trimmed(text.substr(at, 8))) +
                "' in its header where a number is expected; it is damaged");
  }
  return *value;
}

// The fields of signal i: each kind of field stands together for all signals.
RecordSignal parse_signal(std::string_view text, std::size_t i, const Header& h, const std::string& name) {
  const std::size_t n = h.records.signals.size();
  const auto at = [&](std::size_t before, std::size_t width) { return part + before * n + width * i; };
  RecordSignal s;
  s.label = as_utf8(std::string(edf::trimmed(text.substr(at(0, 16), 16))));
  s.unit = as_utf8(std::string(edf::trimmed(text.substr(at(96, 8), 8))));
  s.type = h.width == 2 ? number_type('i', 2) : int24_type();
  s.type.resolution = h.width == 2 ? 0x1p-15 : 0x1p-23;
  s.annotations = s.label == "EDF Annotations" || s.label == "BDF Annotations";
  s.samples = whole(text, at(216, 8), 8, "the samples per record of signal " + std::to_string(i + 1), name);
  if (s.samples < 1)
    throw Error(name + ": signal " + std::to_string(i + 1) + " has no samples; it is damaged");
  if (s.annotations) return s;
  const std::string who = "of signal " + std::to_string(i + 1) + " (" + s.label + ")";
  s.least = real(text, at(104, 8), "the physical minimum " + who, name);
  const double most = real(text, at(112, 8), "the physical maximum " + who, name);
  const long long low = whole(text, at(120, 8), 8, "the digital minimum " + who, name);
  const long long high = whole(text, at(128, 8), 8, "the digital maximum " + who, name);
  if (most == s.least || low >= high) {
    throw Error(name + ": the limits " + who + " in its header are equal or reversed; it cannot be scaled");
  }
  s.least_text = std::string(edf::trimmed(text.substr(at(104, 8), 8)));
  s.most_text = std::string(edf::trimmed(text.substr(at(112, 8), 8)));
  const long long largest = h.width == 2 ? 1 << 15 : 1 << 23;
  s.low = static_cast<int>(std::clamp(low, -largest, largest - 1));
  s.high = static_cast<int>(std::clamp(high, -largest, largest - 1));
  if (h.width == 3 && type_of_name(s.label) == ChannelType::status) {  // bits, of which limits say nothing
    s.least = 0;
    s.scale = 1;
    return s;
  }
  s.least_digital = static_cast<double>(low);
  s.scale = (most - s.least) / static_cast<double>(high - low);
  if (!std::isfinite(s.scale)) throw Error(name + ": the limits " + who + " are too large for numbers");
  return s;
}

// As many records as are there: headers are wrong where the program that recorded did not close the file, or
// the file was cut.
void count_records(Header& h, std::uint64_t bytes, const std::string& name) {
  const std::uint64_t limit = std::uint64_t{64} << 20;
  if (h.records.bytes > limit) {
    throw Error(name + ": its header announces records of " + std::to_string(h.records.bytes) +
                " bytes; at most " + std::to_string(limit) + " are read; it is damaged");
  }
  const std::uint64_t announced = h.records.count;
  const std::uint64_t there = h.records.count = (bytes - h.records.first) / h.records.bytes;
  if (there == 0) throw Error(name + ": holds no records");
  if (announced == not_closed) {
    h.notes.push_back(name + ": was not closed by the program that recorded it; its " +
                      std::to_string(there) + " whole records are read");
  } else if (h.records.first + announced * h.records.bytes != bytes) {
    h.notes.push_back(name + ": its header announces " + std::to_string(announced) + " records; " +
                      std::to_string(there) + " whole ones are there and read");
  }
}

Error cut_off(const std::string& name) { return Error(name + ": is cut off in its header"); }

// What the first 256 bytes say; the signals are still to come.
Header parse_start(std::string_view text, const std::string& name) {
  const bool bdf = text.starts_with(
      "\xff"
      "BIOSEMI");
  if (text.empty()) throw Error(name + ": the file is empty");
  if (!bdf && !text.starts_with("0       ")) throw Error(name + ": not an EDF or BDF file");
  if (text.size() < part) throw cut_off(name);
  const std::string_view kind = text.substr(192, 5);
  const long long n = whole(text, 252, 4, "the number of signals", name);
  if (n < 1 || n > most_signals) {
    throw Error(name + ": its header announces " + std::to_string(n) + " signals; 1 to " +
                std::to_string(most_signals) + " are read");
  }
  Header h;
  h.width = bdf ? 3 : 2;
  h.has_gaps = kind == "EDF+D" || kind == "BDF+D";
  h.start = edf::start_of(text);
  if (h.start.empty()) h.notes.push_back(name + ": the date in its header is none; it is left out");
  h.records.signals.resize(static_cast<std::size_t>(n));
  h.records.first = part * (h.records.signals.size() + 1);
  if (whole(text, 184, 8, "the size of the header", name) != static_cast<long long>(h.records.first)) {
    throw Error(name + ": the size of its header does not fit its number of signals; it is damaged");
  }
  const long long records = whole(text, 236, 8, "the number of records", name);
  h.records.count = records < 0 ? not_closed : static_cast<std::uint64_t>(records);
  h.records.seconds = real(text, 244, "the duration of a record", name);
  return h;
}

Header parse_header(std::ifstream& in, std::uint64_t bytes, const std::string& name) {
  Header h = parse_start(read_start(in, part), name);
  const std::string text = read_start(in, h.records.first);
  if (text.size() < h.records.first) throw cut_off(name);
  for (std::size_t i = 0; i < h.records.signals.size(); ++i) {
    RecordSignal& s = h.records.signals[i] = parse_signal(text, i, h, name);
    s.offset = h.records.bytes;
    h.records.bytes += static_cast<std::uint64_t>(s.samples) * h.width;
  }
  count_records(h, bytes, name);
  return h;
}

// Of all records: first the time they begin at, then what is annotated.
void read_annotations(std::ifstream& in, const Header& h, SignalInfo& info, const Path& path) {
  edf::Annotations annotations(h.records.seconds);
  std::string bytes;
  const bool any = std::ranges::any_of(h.records.signals, &RecordSignal::annotations);
  for (std::uint64_t record = 0; any && record < h.records.count; ++record) {
    annotations.begin_record();
    for (const RecordSignal& s : h.records.signals) {
      if (!s.annotations) continue;
      bytes.resize(static_cast<std::size_t>(s.samples) * h.width);
      in.clear();
      in.seekg(static_cast<std::streamoff>(h.records.first + record * h.records.bytes + s.offset));
      if (!in.read(bytes.data(), static_cast<std::streamsize>(bytes.size())))
        throw failure(path, "cannot read, or it was changed meanwhile");
      annotations.add(bytes);
    }
  }
  annotations.finish(info, h.has_gaps, path.string());
}

}  // namespace

Reader open_edf(const Path& file, const ReadOptions&) {
  std::ifstream in(file, std::ios::binary);
  if (!in) throw failure(file, "cannot open");
  const Header header = parse_header(in, std::filesystem::file_size(file), file.string());
  SignalInfo info;
  info.start = header.start;
  info.notes = header.notes;
  read_annotations(in, header, info, file);
  return open_records(file, header.records, std::move(info));
}

}  // namespace demix::io
