#include <algorithm>
#include <cmath>
#include <numbers>

#include "io/edf_fields.hpp"
#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/ini.hpp"
#include "io/named_arrays.hpp"
#include "io/numbers.hpp"
#include "io/orientation.hpp"
#include "io/output_file.hpp"
#include "io/utf.hpp"

/// BrainVision's recordings: a header and a list of markers, both text, and the numbers in a file of their
/// own.
namespace demix::io {
namespace fs = std::filesystem;
namespace {

std::string read_text(const Path& file) {
  constexpr std::uint64_t longest = 64 << 20;
  const Part all = Part::all(std::make_shared<const FileBytes>(file));
  if (all.size > longest)
    throw Error(file.string() + ": is too long for a BrainVision header or marker file");
  return all.copy(0, longest);
}

Ini read_ini(const Path& file) {
  const std::string text = read_text(file);
  const std::string first = text.substr(0, text.find('\n'));
  if (first.find("Brain") == std::string::npos || first.find("Vision") == std::string::npos) {
    throw Error(file.string() + ": is not a BrainVision file: its first line does not say so");
  }
  return Ini(text);
}

double number(const std::string& text, const std::string& what, const Path& file) {
  const auto value = edf::number(text);
  if (!value)
    throw Error(file.string() + ": " + what + " is '" + printable(text) + "' where a number is expected");
  return *value;
}

// Commas within a name are written \1.
std::string with_commas(std::string text) {
  for (std::size_t at = text.find("\\1"); at != std::string::npos; at = text.find("\\1", at))
    text.replace(at, 2, ",");
  return text;
}

std::string without_commas(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == ',') {
      out += "\\1";
    } else {
      out += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    }
  }
  return out;
}

// The file that the header names, or one that was renamed with it.
Path beside(const Path& header, std::string named, const std::vector<std::string>& extensions) {
  const std::string stem = header.stem().string();
  for (std::size_t at = named.find("$b"); at != std::string::npos; at = named.find("$b"))
    named.replace(at, 2, stem);
  named = named.substr(named.find_last_of("/\\") + 1);  // files from Windows may name a folder
  std::error_code ignored;
  if (!named.empty() && fs::exists(header.parent_path() / named, ignored))
    return header.parent_path() / named;
  for (const std::string& extension : extensions) {
    Path same = Path(header).replace_extension(extension);
    if (fs::exists(same, ignored)) return same;
  }
  return header.parent_path() / named;
}

bool is_voltage(const std::string& unit) {
  return unit == "V" || unit == "mV" || unit == "uV" || unit == "\u00b5V" || unit == "\u03bcV" ||
         unit == "nV";
}

// Ch1=name,reference,resolution,unit
void add_channels(NumbersLayout& layout, const Ini& ini, const Path& file) {
  SignalInfo& info = layout.info;
  const auto n = static_cast<std::size_t>(info.channels);
  info.names.assign(n, "");
  info.units.assign(n, "");
  info.types.assign(n, ChannelType::unknown);
  layout.gain.setConstant(info.channels, NAN);
  for (const auto& [key, value] : ini.section("channel infos")) {
    const auto channel = Ini::number_after(key, "ch");
    if (!channel || *channel < 1 || *channel > n) {
      throw Error(file.string() + ": '" + printable(key) + "' is none of its " + std::to_string(n) +
                  " channels");
    }
    const std::size_t i = *channel - 1;
    const std::vector<std::string> parts = split(value, ',');
    info.names[i] = with_commas(parts[0]);
    const std::string unit = parts.size() > 3 ? parts[3] : "";
    info.units[i] = unit.empty() ? "\u00b5V" : unit;
    if (!is_voltage(info.units[i])) info.types[i] = ChannelType::misc;
    const std::string resolution = parts.size() > 2 ? parts[2] : "";
    layout.gain(static_cast<Index>(i)) =
        resolution.empty()
            ? 1
            : number(resolution, "the resolution of channel " + std::to_string(*channel), file);
  }
  if (!layout.gain.allFinite()) throw Error(file.string() + ": [Channel Infos] does not list every channel");
}

// Ch1=radius,theta,phi: degrees, on a sphere through the electrodes; radius 1 is any head, 0 no place.
void add_positions(SignalInfo& info, const Ini& ini) {
  constexpr double usual_radius = 0.095;
  for (const auto& [key, value] : ini.section("coordinates")) {
    const auto channel = Ini::number_after(key, "ch");
    const std::vector<std::string> parts = split(value, ',');
    if (!channel || *channel < 1 || *channel > info.names.size() || parts.size() < 3) continue;
    const auto radius = edf::number(parts[0]), theta = edf::number(parts[1]), phi = edf::number(parts[2]);
    if (!radius || !theta || !phi || !(*radius > 0)) continue;
    const double r = *radius == 1 ? usual_radius : *radius / 1000;
    const double pole = *theta * std::numbers::pi / 180, around = *phi * std::numbers::pi / 180;
    if (info.positions.empty()) info.positions.resize(info.names.size());
    info.positions[*channel - 1] = {r * std::sin(pole) * std::cos(around),
                                    r * std::sin(pole) * std::sin(around), r * std::cos(pole)};
  }
}

// "20131113161403794232"
std::string start_of(const std::string& text) {
  if (text.size() != 20 || text.find_first_not_of("0123456789") != std::string::npos ||
      text.starts_with("0000"))
    return "";
  return text.substr(0, 4) + "-" + text.substr(4, 2) + "-" + text.substr(6, 2) + "T" + text.substr(8, 2) +
         ":" + text.substr(10, 2) + ":" + text.substr(12, 2);
}

// Mk1=type,description,position from 1,size,channel,date
void add_markers(SignalInfo& info, const Path& file) {
  std::error_code ignored;
  if (!fs::is_regular_file(file, ignored)) {
    info.notes.push_back(file.string() + ": is not there; the recording is read without its markers");
    return;
  }
  std::size_t damaged = 0;
  info.files_beside.push_back(file);
  const Ini ini = read_ini(file);
  for (const auto& [key, value] : ini.section("marker infos")) {
    if (!Ini::number_after(key, "mk")) continue;
    const std::vector<std::string> parts = split(value, ',');
    const auto position = parts.size() > 2 ? edf::number(parts[2]) : std::nullopt;
    if (!position) {
      ++damaged;
      continue;
    }
    const auto size = parts.size() > 3 ? edf::number(parts[3]) : std::nullopt;
    info.annotations.push_back({(*position - 1) / info.rate, size ? *size / info.rate : -1,
                                with_commas(parts[0]) + "/" + with_commas(parts[1])});
    if (info.start.empty() && parts[0] == "New Segment" && parts.size() > 5) info.start = start_of(parts[5]);
  }
  if (damaged > 0) {
    info.notes.push_back(file.string() + ": " + std::to_string(damaged) +
                         " markers are damaged; they are left out");
  }
}

}  // namespace

Reader open_brainvision(const Path& file, const ReadOptions&) {
  const Ini ini = read_ini(file);
  const auto told = [&](const char* key) { return ini.value("common infos", key); };
  const std::string kind = lower_case(told("dataformat"));
  if (!kind.empty() && kind != "binary") {
    throw Error(file.string() + ": its numbers are text (DataFormat=" + printable(told("dataformat")) +
                "), which is not supported; export them as binary");
  }
  NumbersLayout layout;
  const std::string type = lower_case(ini.value("binary infos", "binaryformat"));
  if (type == "int_16") layout.type = number_type('i', 2);
  if (type == "uint_16") layout.type = number_type('u', 2);
  if (type == "int_32") layout.type = number_type('i', 4);
  if (type == "ieee_float_32") layout.type = number_type('f', 4);
  if (layout.type.decode == nullptr) {
    throw Error(file.string() + ": has numbers of the kind '" + printable(type) +
                "'; INT_16, UINT_16, INT_32 and IEEE_FLOAT_32 are read");
  }
  const std::string order = lower_case(told("dataorientation"));
  if (order != "multiplexed" && order != "vectorized") {
    throw Error(file.string() + ": DataOrientation is '" + printable(order) +
                "', not MULTIPLEXED or VECTORIZED");
  }
  layout.planar = order == "vectorized";
  const double channels = number(told("numberofchannels"), "NumberOfChannels", file);
  const double interval = number(told("samplinginterval"), "SamplingInterval", file);
  if (!(channels >= 1 && channels <= most_channels) || channels != std::trunc(channels)) {
    throw Error(file.string() + ": NumberOfChannels is " + decimals(channels) + "; 1 to " +
                std::to_string(most_channels) + " are read");
  }
  if (!(interval > 0)) throw Error(file.string() + ": SamplingInterval is not above 0");
  layout.info.channels = static_cast<Index>(channels);
  layout.info.rate = 1e6 / interval;
  add_channels(layout, ini, file);
  add_positions(layout.info, ini);
  if (const std::string markers = told("markerfile"); !markers.empty())
    add_markers(layout.info, beside(file, markers, {".vmrk", ".amrk"}));
  const Path data = beside(file, told("datafile"), {".eeg", ".dat", ".avg", ".seg"});
  std::error_code ignored;
  if (!fs::is_regular_file(data, ignored)) {
    throw Error(file.string() + ": its numbers are in '" + printable(data.filename().string()) +
                "', which is not beside it");
  }
  layout.info.files_beside.push_back(data);
  try {
    return open_numbers(std::make_shared<const FileBytes>(data), std::move(layout));
  } catch (const Error& e) {
    throw Error(file.string() + ": its numbers are in " + e.what());
  }
}

namespace {

class BrainVisionWriter final : public SignalWriter {
 public:
  BrainVisionWriter(const std::vector<Path>& files, const std::string& name, const SignalInfo& info)
      : header_(files[0]), data_(files[1]), markers_(files[2]) {
    if (!(info.rate > 0)) throw Error(header_.name() + ": a BrainVision file needs a rate; give `rate`");
    header_.put(header(name, info));
    markers_.put(markers(name, info));
  }

  void write(const Frames<double>& block) override {
    const Matrix<float> values = block.cast<float>();
    data_.put({reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * 4});
  }

  void finish() override {
    header_.close();
    data_.close();
    markers_.close();
  }

 private:
  static std::string header(const std::string& name, const SignalInfo& info) {
    std::string text =
        "Brain Vision Data Exchange Header File Version 1.0\n; Written by demix\n\n[Common Infos]\n"
        "Codepage=UTF-8\nDataFile=" +
        name + ".eeg\nMarkerFile=" + name +
        ".vmrk\nDataFormat=BINARY\nDataOrientation=MULTIPLEXED\nNumberOfChannels=" +
        std::to_string(info.channels) + "\nSamplingInterval=" + decimals(1e6 / info.rate) +
        "\n\n[Binary Infos]\nBinaryFormat=IEEE_FLOAT_32\n\n[Channel Infos]\n";
    for (std::size_t i = 0; i < static_cast<std::size_t>(info.channels); ++i) {
      const std::string number = std::to_string(i + 1);
      std::string unit = info.units.empty() || info.units[i].empty() ? "n/a" : as_utf8(info.units[i]);
      if (unit == "uV") unit = "\u00b5V";
      text += "Ch" + number + "=" +
              without_commas(info.names.empty() ? "channel " + number : as_utf8(info.names[i])) + ",,1," +
              without_commas(unit) + "\n";
    }
    return text + coordinates(info);
  }

  // Radius in millimetres, theta from the top, phi from the right ear.
  static std::string coordinates(const SignalInfo& info) {
    if (info.positions.empty()) return "";
    std::string text = "\n[Coordinates]\n";
    for (std::size_t i = 0; i < info.positions.size(); ++i) {
      const auto [x, y, z] = info.positions[i].value_or(Position{});  // radius 0 is no place
      const double degrees = 180 / std::numbers::pi, r = std::hypot(x, y, z);
      const double theta = r > 0 ? std::acos(z / r) * degrees : 0;
      text += "Ch" + std::to_string(i + 1) + "=" + decimals(1000 * r) + "," + decimals(theta) + "," +
              decimals(std::atan2(y, x) * degrees) + "\n";
    }
    return text;
  }

  static std::string markers(const std::string& name, const SignalInfo& info) {
    std::string text =
        "Brain Vision Data Exchange Marker File, Version 1.0\n\n[Common Infos]\nCodepage=UTF-8\n"
        "DataFile=" +
        name + ".eeg\n\n[Marker Infos]\n";
    std::size_t k = 0;
    const auto put = [&](const std::string& type, const std::string& what, double onset, double duration) {
      text += "Mk" + std::to_string(++k) + "=" + without_commas(type) + "," + without_commas(what) + "," +
              std::to_string(std::llround(onset * info.rate) + 1) + "," +
              std::to_string(duration < 0 ? 1 : std::llround(duration * info.rate)) + ",0";
    };
    std::string date = info.start;
    std::erase_if(date, [](char c) { return c < '0' || c > '9'; });
    const auto& all = info.annotations;
    bool dated = date.size() != 14;  // there is none to write
    if (!dated &&
        std::ranges::none_of(all, [](const Annotation& a) { return a.text.starts_with("New Segment/"); })) {
      put("New Segment", "", 0, -1);
      text += "," + date + "000000\n";
    }
    for (const Annotation& a : all) {
      if (!(std::abs(a.onset * info.rate) < 1e15) || !(a.duration * info.rate < 1e15)) continue;
      const std::size_t slash = a.text.find('/');
      const bool split = slash != std::string::npos;
      put(split ? a.text.substr(0, slash) : "Comment", split ? a.text.substr(slash + 1) : a.text, a.onset,
          a.duration);
      if (!dated && a.text.starts_with("New Segment/")) text += "," + date + "000000";
      dated = dated || a.text.starts_with("New Segment/");
      text += "\n";
    }
    return text;
  }

  OutputFile header_, data_, markers_;
};

}  // namespace

Writer create_brainvision(const std::vector<Path>& files, const std::string& name, const SignalInfo& info,
                          const Ranges&) {
  return std::make_unique<BrainVisionWriter>(files, name, info);
}

}  // namespace demix::io
