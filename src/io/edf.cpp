#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <map>

#include "io/bytes.hpp"
#include "io/edf_fields.hpp"
#include "io/edf_lock.hpp"
#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/utf.hpp"

#ifdef DEMIX_HAVE_EDFLIB
#include <edflib.h>
#endif

/// EDF, EDF+, BDF and BDF+. EDFlib judges the header and reads the annotations; the samples, which lie in
/// records of one size, are read here: many at a time, and by as many readers of a file as are wanted.
namespace demix::io {
#ifdef DEMIX_HAVE_EDFLIB
namespace {

constexpr std::size_t part = 256;  // bytes of the header, and of what each signal adds to it

struct Signal {
  std::string label, unit;
  Index samples = 0;       // in a record
  std::size_t offset = 0;  // in a record, in bytes
  double least_digital = 0, least = 0, scale = 0;
  bool annotations = false;
};

struct Header {
  std::size_t width = 2;  // bytes of a sample
  bool plus = false;
  std::uint64_t records = 0, record_bytes = 0, bytes = 0;
  double record_seconds = 0;
  std::vector<Signal> signals;
};

std::string read_start(std::ifstream& in, std::size_t bytes) {
  std::string text(bytes, '\0');
  in.clear();
  in.seekg(0);
  in.read(text.data(), static_cast<std::streamsize>(bytes));
  text.resize(static_cast<std::size_t>(in.gcount()));
  return text;
}

void require_ascii(std::string_view text, std::size_t from, const std::string& name) {
  for (std::size_t i = from; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 32 || byte > 126) {
      throw Error(
          name + ": byte " + std::to_string(i + 1) +
          " of its header is not an ASCII character, as EDF demands (a \u00b5 in a unit?); repair it, "
          "or save it again with another program");
    }
  }
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
  const auto value = edf::number(text.substr(at, 8));
  if (!value) {
    throw Error(name + ": " + what + " is '" + std::string(edf::trimmed(text.substr(at, 8))) +
                "' in its header where a number is expected; it is damaged");
  }
  return *value;
}

// The fields of signal i: each kind of field stands together for all signals.
Signal parse_signal(std::string_view text, std::size_t i, const Header& h, const std::string& name) {
  const std::size_t n = h.signals.size();
  const auto at = [&](std::size_t before, std::size_t width) { return part + before * n + width * i; };
  Signal s;
  s.label = edf::trimmed(text.substr(at(0, 16), 16));
  s.unit = edf::trimmed(text.substr(at(96, 8), 8));
  s.annotations = h.plus && s.label == (h.width == 2 ? "EDF Annotations" : "BDF Annotations");
  const std::string who = "of signal " + std::to_string(i + 1) + " (" + s.label + ")";
  s.least = real(text, at(104, 8), "the physical minimum " + who, name);
  const double most = real(text, at(112, 8), "the physical maximum " + who, name);
  const long long low = whole(text, at(120, 8), 8, "the digital minimum " + who, name);
  const long long high = whole(text, at(128, 8), 8, "the digital maximum " + who, name);
  s.samples = whole(text, at(216, 8), 8, "the samples per record " + who, name);
  if (most == s.least || low >= high) {
    throw Error(name + ": the limits " + who + " in its header are equal or reversed; it cannot be scaled");
  }
  if (s.samples < 1)
    throw Error(name + ": signal " + std::to_string(i + 1) + " has no samples; it is damaged");
  s.least_digital = static_cast<double>(low);
  s.scale = (most - s.least) / static_cast<double>(high - low);
  if (!std::isfinite(s.scale)) throw Error(name + ": the limits " + who + " are too large for numbers");
  return s;
}

void require_size(const Header& h, std::uint64_t bytes, const std::string& name) {
  const std::uint64_t limit = (h.width == 2 ? 10U : 15U) << 20;  // of EDFlib
  if (h.record_bytes > limit) {
    throw Error(name + ": its header announces records of " + std::to_string(h.record_bytes) +
                " bytes; at most " + std::to_string(limit) + " are read; it is damaged");
  }
  const std::uint64_t announced = h.bytes + h.records * h.record_bytes;
  if (announced == bytes) return;
  throw Error(name + ": its header announces " + std::to_string(h.records) + " records, the file holds " +
              std::to_string((bytes - h.bytes) / h.record_bytes) +
              (announced > bytes ? "; it is cut off or damaged" : " or more; it is damaged"));
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
  require_ascii(text, bdf ? 1 : 0, name);
  const std::string_view kind = text.substr(192, 5);
  if (kind == "EDF+D" || kind == "BDF+D") {
    throw Error(name + ": is discontinuous (" + std::string(kind) +
                "): there are gaps between its records; save its continuous parts as files of their own");
  }
  const long long n = whole(text, 252, 4, "the number of signals", name);
  if (n < 1 || n > EDFLIB_MAXSIGNALS) {
    throw Error(name + ": its header announces " + std::to_string(n) + " signals; 1 to " +
                std::to_string(EDFLIB_MAXSIGNALS) + " are read");
  }
  Header h;
  h.width = bdf ? 3 : 2;
  h.plus = kind == (bdf ? "BDF+C" : "EDF+C");
  h.signals.resize(static_cast<std::size_t>(n));
  h.bytes = part * (h.signals.size() + 1);
  if (whole(text, 184, 8, "the size of the header", name) != static_cast<long long>(h.bytes)) {
    throw Error(name + ": the size of its header does not fit its number of signals; it is damaged");
  }
  const long long records = whole(text, 236, 8, "the number of records", name);
  if (records < 1) {
    throw Error(name + (records == -1 ? ": was not closed by the program that recorded it (-1 records)"
                                      : ": holds no records"));
  }
  h.records = static_cast<std::uint64_t>(records);
  h.record_seconds = real(text, 244, "the duration of a record", name);
  return h;
}

// Everything EDFlib computes with is checked here first: it trusts the sizes that it is told.
Header parse_header(std::ifstream& in, std::uint64_t bytes, const std::string& name) {
  Header h = parse_start(read_start(in, part), name);
  const std::string text = read_start(in, h.bytes);
  if (text.size() < h.bytes) throw cut_off(name);
  require_ascii(text, part, name);
  for (std::size_t i = 0; i < h.signals.size(); ++i) {
    Signal& s = h.signals[i] = parse_signal(text, i, h, name);
    s.offset = h.record_bytes;
    h.record_bytes += static_cast<std::uint64_t>(s.samples) * h.width;
  }
  require_size(h, bytes, name);
  return h;
}

// Opened with EDFlib, which allows a path only once and is not safe with threads, and closed at once.
void read_with_edflib(const Path& path, SignalInfo& info) {
  const std::lock_guard hold(edflib_lock());
  const auto header = std::make_unique<edf_hdr_struct>();
  if (edfopen_file_readonly(path.c_str(), header.get(), EDFLIB_READ_ALL_ANNOTATIONS) != 0) {
    const std::string name = path.string();
    switch (header->filetype) {
      case EDFLIB_FILE_CONTAINS_FORMAT_ERRORS:
        throw Error(name +
                    ": its header or its annotations break the rules of the format (the start date, the "
                    "patient field, the times of the records); save it again with another program");
      case EDFLIB_FILE_ALREADY_OPENED:
        throw Error(name + ": is being written");
      case EDFLIB_MAXFILES_REACHED:
        throw Error(name + ": too many EDF files are open at once");
      default:
        throw Error(name + ": cannot be read by EDFlib (" + std::to_string(header->filetype) + ")");
    }
  }
  char start[64];
  std::snprintf(start, sizeof start, "%04d-%02d-%02dT%02d:%02d:%02d", header->startdate_year,
                header->startdate_month, header->startdate_day, header->starttime_hour,
                header->starttime_minute, header->starttime_second);
  info.start = start;
  edf_annotation_struct found;
  for (int i = 0; i < header->annotations_in_file; ++i) {
    if (edf_get_annotation(header->handle, i, &found) != 0) break;
    constexpr double units = EDFLIB_TIME_DIMENSION;
    const double duration = found.duration_l < 0 ? -1 : static_cast<double>(found.duration_l) / units;
    info.annotations.push_back(
        {static_cast<double>(found.onset) / units, duration, as_utf8(found.annotation)});
  }
  edfclose_file(header->handle);
}

// The samples per record that most signals have; the most of them, if several are as frequent.
Index usual_samples(const std::vector<Signal>& signals) {
  std::map<Index, int> count;
  for (const Signal& s : signals) ++count[s.samples];
  Index usual = 0;
  for (const auto& [samples, times] : count) {
    if (usual == 0 || times >= count[usual]) usual = samples;
  }
  return usual;
}

std::string rate_text(double rate) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", rate);
  return text;
}

class EdfReader final : public SignalReader {
 public:
  explicit EdfReader(const Path& path) : path_(path), in_(path, std::ios::binary) {
    if (!in_) throw failure(path, "cannot open");
    header_ = parse_header(in_, std::filesystem::file_size(path), path.string());
    choose_channels();
    read_with_edflib(path, info_);
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { frame_ = 0; }
  double resolution() const override { return header_.width == 2 ? 0x1p-15 : 0x1p-23; }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    Index done = 0;
    while (done < out.cols() && frame_ < info_.frames) {
      const char* record = record_of(static_cast<std::uint64_t>(frame_ / samples_));
      const Index within = frame_ % samples_;
      const Index count = std::min(samples_ - within, out.cols() - done);
      for (Index c = 0; c < info_.channels; ++c) {
        const Signal& s = channels_[static_cast<std::size_t>(c)];
        const char* p = record + s.offset + static_cast<std::size_t>(within) * header_.width;
        for (Index k = 0; k < count; ++k, p += header_.width) {
          out(c, done + k) = s.least + (digital(p) - s.least_digital) * s.scale;
        }
      }
      done += count;
      frame_ += count;
    }
    return done;
  }

 private:
  void choose_channels() {
    std::vector<Signal> all = header_.signals;
    std::erase_if(all, [](const Signal& s) { return s.annotations; });
    if (all.empty()) throw Error(path_.string() + ": holds annotations only, no signals");
    if (!(header_.record_seconds > 0)) {
      throw Error(path_.string() + ": its records last " + rate_text(header_.record_seconds) +
                  " seconds by its header, so that it has no rate; it is damaged");
    }
    samples_ = usual_samples(all);
    std::string others;
    for (const Signal& s : all) {
      if (s.samples == samples_) {
        channels_.push_back(s);
        info_.names.push_back(s.label);
        info_.units.push_back(s.unit);
      } else {
        others += (others.empty() ? "" : ", ") + s.label + " at " + rate_text(rate_of(s.samples));
      }
    }
    info_.channels = static_cast<Index>(channels_.size());
    info_.rate = rate_of(samples_);
    info_.frames = static_cast<Index>(header_.records) * samples_;
    if (!others.empty()) {
      info_.notes.push_back(path_.string() + ": left out what has another rate than " +
                            rate_text(info_.rate) + " per second, the rate of most channels: " + others +
                            "; resample it to use it");
    }
  }

  double rate_of(Index samples) const { return static_cast<double>(samples) / header_.record_seconds; }

  double digital(const char* p) const {
    if (header_.width == 2) return load_real<std::int16_t>(p);
    const auto byte = [&](int i) { return static_cast<std::int32_t>(static_cast<unsigned char>(p[i])); };
    return byte(0) + byte(1) * 256 + static_cast<signed char>(p[2]) * 65536;
  }

  const char* record_of(std::uint64_t record) {
    if (record < first_held_ || record >= first_held_ + held_) {
      constexpr std::uint64_t at_once = 1 << 20;
      const std::uint64_t count =
          std::min(std::max<std::uint64_t>(at_once / header_.record_bytes, 1), header_.records - record);
      buffer_.resize(count * header_.record_bytes);
      in_.clear();
      in_.seekg(static_cast<std::streamoff>(header_.bytes + record * header_.record_bytes));
      if (!in_.read(buffer_.data(), static_cast<std::streamsize>(buffer_.size()))) {
        held_ = 0;
        throw failure(path_, "cannot read, or it was changed meanwhile");
      }
      first_held_ = record;
      held_ = count;
    }
    return buffer_.data() + (record - first_held_) * header_.record_bytes;
  }

  Path path_;
  std::ifstream in_;
  Header header_;
  SignalInfo info_;
  std::vector<Signal> channels_;
  Index samples_ = 0;  // of a channel in a record
  Index frame_ = 0;
  std::uint64_t first_held_ = 0, held_ = 0;  // records in the buffer
  std::string buffer_;
};

}  // namespace

Reader open_edf(const Path& file, const ReadOptions&) { return std::make_unique<EdfReader>(file); }
#else
namespace {

Error without(const Path& path) {
  return built_without("EDFlib", path.string(), "EDF and BDF files", ".csv or .npy");
}

}  // namespace

Reader open_edf(const Path& file, const ReadOptions&) { throw without(file); }
Writer create_edf(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
Writer create_bdf(const Path& file, const SignalInfo&, const Ranges&) { throw without(file); }
#endif

}  // namespace demix::io
