#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>

#include "io/eeglab_ica.hpp"
#include "io/eeglab_positions.hpp"
#include "io/format_files.hpp"
#include "io/hdf5_file.hpp"
#include "io/mat_file.hpp"
#include "io/mat_writing.hpp"
#include "io/named_arrays.hpp"
#include "io/orientation.hpp"
#include "io/output_file.hpp"

/// EEGLAB's datasets: a MATLAB file with a struct EEG, or with its fields as variables. The data are in it,
/// or in a file of raw numbers beside it (.fdt).
namespace demix::io {
namespace fs = std::filesystem;
// The name that was stored may be of before the files were renamed.
Path set_data_file(const Path& file, const std::string& stored) {
  // Files from Windows may name a folder there.
  Path named = file.parent_path() / stored.substr(stored.find_last_of("/\\") + 1);
  if (named.extension() != ".fdt") {
    throw Error(file.string() + ": its data are in '" + printable(stored) +
                "', which is not supported; save them as .fdt or in the .set file");
  }
  Path same = fs::path(file).replace_extension(".fdt");
  std::error_code ignored;  // a name that no file can have is one that is not there
  if (fs::exists(named, ignored)) return named;
  if (fs::exists(same, ignored)) return same;
  throw Error(file.string() + ": its data are in '" + printable(named.filename().string()) +
              "', which is not beside it; neither is " + same.filename().string());
}

namespace {

using Fields = std::map<std::string, mat::Array>;

Fields fields_of(const mat::File& mat, const Path& file) {
  Fields fields;
  if (const mat::Array* eeg = mat.find("EEG")) {
    if (eeg->kind != mat::Class::structure || eeg->count() != 1) {
      throw Error(file.string() + ": EEG is " + size_text(eeg->shape) +
                  ", not one struct; save one dataset to a file");
    }
    mat.each_field(mat.load(*eeg), [&](std::size_t, const std::string& field, const mat::Array& value) {
      fields[field] = value;
    });
  } else {
    for (const char* name : {"nbchan", "pnts", "trials", "srate", "chanlocs", "event", "data", "icaweights",
                             "icasphere", "icawinv", "icachansind"}) {
      if (const mat::Array* found = mat.find(name)) fields[name] = mat.load(*found);
    }
  }
  if (!fields.contains("data")) {
    throw Error(file.string() + ": has neither a struct EEG nor data; it is no EEGLAB dataset");
  }
  return fields;
}

double number(const mat::File& mat, const Fields& fields, const std::string& name, double otherwise) {
  const auto found = fields.find(name);
  return found == fields.end() ? otherwise : mat.number(found->second).value_or(otherwise);
}

// A whole number above 0.
std::uint64_t count(const mat::File& mat, const Fields& fields, const std::string& name, double otherwise,
                    const Path& file) {
  const double value = number(mat, fields, name, otherwise);
  if (!(value >= 1 && value < 0x1p40) || value != std::trunc(value)) {
    throw Error(file.string() + ": EEG." + name + " is not a whole number above 0; it is damaged");
  }
  return static_cast<std::uint64_t>(value);
}

// What EEG.chanlocs says of the channels.
void add_channels(SignalInfo& info, const mat::File& mat, const Fields& fields) {
  const auto chanlocs = fields.find("chanlocs");
  const auto channels = static_cast<std::size_t>(info.channels);
  if (chanlocs == fields.end() || chanlocs->second.count() != channels) return;
  std::vector<Position> places(channels, {NAN, NAN, NAN});
  info.types.assign(channels, ChannelType::unknown);
  mat.each_field(chanlocs->second, [&](std::size_t item, const std::string& field, const mat::Array& value) {
    if (field == "labels") {
      info.names.resize(channels);
      info.names[item] = mat.text(value);
    } else if (field == "type") {
      info.types[item] = type_named(mat.text(value)).value_or(ChannelType::unknown);
    } else if (field == "X" || field == "Y" || field == "Z") {
      places[item][static_cast<std::size_t>(field[0] - 'X')] = mat.number(value).value_or(NAN);
    }
  });
  set_eeglab_positions(info, places);
}

void add_events(SignalInfo& info, const mat::File& mat, const Fields& fields, const Path& file) {
  const auto events = fields.find("event");
  if (events == fields.end()) return;
  std::vector<Annotation>& all = info.annotations;
  mat.each_field(events->second, [&](std::size_t item, const std::string& field, const mat::Array& value) {
    all.resize(item + 1, {NAN, -1, ""});
    const double frames = mat.number(value).value_or(NAN);
    if (field == "type") all[item].text = mat.text(value);
    if (field == "latency") all[item].onset = (frames - 1) / info.rate;  // the first frame is 1
    if (field == "duration" && frames >= 0) all[item].duration = frames / info.rate;
  });
  const std::size_t lost = std::erase_if(all, [](const Annotation& a) { return !std::isfinite(a.onset); });
  if (lost > 0) {
    info.notes.push_back(file.string() + ": " + std::to_string(lost) +
                         " events without a latency are left out");
  }
}

SignalInfo facts_of(const mat::File& mat, const Fields& fields, std::uint64_t channels, double rate,
                    const Path& file) {
  SignalInfo info;
  info.channels = static_cast<Index>(channels);
  info.rate = number(mat, fields, "srate", 0);
  if (!(info.rate > 0 && std::isfinite(info.rate))) info.rate = rate;
  if (!(info.rate > 0)) throw Error(file.string() + ": EEG.srate is not a number above 0; give `rate`");
  add_channels(info, mat, fields);
  info.units.assign(channels, "uV");
  add_events(info, mat, fields, file);
  const auto matrix = [&](const char* name) -> std::optional<Matrix<double>> {
    const auto found = fields.find(name);
    return found == fields.end() ? std::nullopt : mat.matrix(found->second);
  };
  try {
    info.ica = model_of({matrix("icaweights"), matrix("icasphere"), matrix("icawinv"), matrix("icachansind")},
                        info, file.string());
  } catch (const Error& e) {
    info.notes.push_back(std::string(e.what()) + ". The ICA is left out");
  }
  return info;
}

struct Extent {
  std::uint64_t channels, points, trials;
  std::uint64_t values() const { return channels * points * trials; }
};

// What the data themselves say stands in for what is not told.
Extent extent_of(const mat::File& mat, const Fields& fields, const Path& file) {
  const mat::Array& data = fields.at("data");
  const auto told = [&](const char* name, std::size_t k) {
    const bool here = data.is_real() && k < data.shape.size();
    return count(mat, fields, name, here ? static_cast<double>(data.shape[k]) : 1, file);
  };
  const Extent e{told("nbchan", 0), told("pnts", 1), told("trials", 2)};
  require_channels(e.channels, file.string());
  if (e.channels > (std::uint64_t{1} << 60) / e.points / e.trials) {
    throw Error(file.string() + ": EEG is said to be " + size_text({e.channels, e.points, e.trials}) +
                "; it is damaged");
  }
  return e;
}

void check_beside(const Path& data, const Extent& e, const Path& file) {
  std::error_code wrong;
  const std::uint64_t bytes = fs::file_size(data, wrong);
  if (wrong) {
    throw Error(file.string() + ": its data, in '" + printable(data.filename().string()) +
                "', cannot be read: " + wrong.message());
  }
  if (bytes == e.values() * 4) return;
  throw Error(data.string() + ": has " + std::to_string(bytes) + " bytes where the .set file says " +
              size_text({e.channels, e.points, e.trials}) +
              " numbers of 4; it is cut off, or of another dataset");
}

void check_inside(const mat::Array& data, const Extent& e, const Path& file) {
  if (data.shape[0] == e.channels && data.count() == e.values()) return;
  throw Error(file.string() + ": EEG.data is " + size_text(data.shape) + " where EEG says " +
              size_text({e.channels, e.points, e.trials}) + "; it is damaged");
}

NumbersLayout layout_of(const mat::File& mat, const Fields& fields, const Extent& e, double rate,
                        const Path& file) {
  NumbersLayout layout;
  layout.type = number_type('f', 4);
  layout.frames = e.points * e.trials;
  layout.info = facts_of(mat, fields, e.channels, rate, file);
  if (e.trials > 1) {
    for (std::uint64_t k = 1; k < e.trials; ++k) {
      layout.info.annotations.push_back(
          {static_cast<double>(k * e.points) / layout.info.rate, -1, "boundary"});
    }
    layout.info.notes.push_back(file.string() + ": its " + std::to_string(e.trials) + " epochs of " +
                                std::to_string(e.points) + " frames are taken one after the other");
  }
  return layout;
}

}  // namespace

// Sizes are checked before anything is made as large as they say.
Reader open_set(const Path& file, const ReadOptions& options) {
  if (is_hdf5(file)) return open_set_hdf5(file, options);
  const mat::File mat(file);
  const Fields fields = fields_of(mat, file);
  const mat::Array& data = fields.at("data");
  const Extent extent = extent_of(mat, fields, file);
  if (data.kind == mat::Class::text) {
    const Path beside = set_data_file(file, mat.text(data));
    check_beside(beside, extent, file);
    NumbersLayout layout = layout_of(mat, fields, extent, options.rate, file);
    layout.info.files_beside = {beside};
    return open_numbers(std::make_shared<const FileBytes>(beside), std::move(layout));
  }
  mat.require_numbers(data);
  check_inside(data, extent, file);
  return mat.open(data, layout_of(mat, fields, extent, options.rate, file));
}

namespace {

// EEGLAB's data are microvolts.
double microvolts(const std::string& unit) {
  if (unit == "V") return 1e6;
  if (unit == "mV") return 1e3;
  if (unit == "nV") return 1e-3;
  return 1;
}

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return out;
}

class SetWriter final : public SignalWriter {
 public:
  SetWriter(const Path& file, SignalInfo info) : info_(std::move(info)), out_(file) {
    if (!(info_.rate > 0)) throw Error(out_.name() + ": an EEGLAB dataset needs a rate; give `rate`");
    scale_.setOnes(info_.channels);
    for (std::size_t i = 0; i < info_.units.size(); ++i)
      scale_(static_cast<Index>(i)) = microvolts(info_.units[i]);
    put_start(0);
  }

  void write(const Frames<double>& block) override {
    frames_ += static_cast<std::uint64_t>(block.cols());
    if (data_bytes() > mat::most_bytes - (1 << 20)) {
      throw Error(out_.name() + ": an EEGLAB dataset holds at most 2 GiB; write .npy or .edf");
    }
    const Matrix<float> values = (scale_.asDiagonal() * block).cast<float>();
    out_.put({reinterpret_cast<const char*>(values.data()), static_cast<std::size_t>(values.size()) * 4});
  }

  void finish() override {
    std::string rest = data().after;
    for (const Field& f : other_fields()) rest += f.array;
    if (data_bytes() + rest.size() > mat::most_bytes - (1 << 16)) {
      throw Error(out_.name() + ": data and events are more than 2 GiB; write .npy or .edf");
    }
    out_.put(rest);
    out_.to_start();
    put_start(rest.size());
    out_.close();
  }

 private:
  std::uint64_t data_bytes() const { return frames_ * static_cast<std::uint64_t>(info_.channels) * 4; }

  mat::Around data() const {
    return mat::around_numbers("", mat::Class::real32, mat::type_single,
                               static_cast<std::uint32_t>(info_.channels),
                               static_cast<std::uint32_t>(frames_), data_bytes());
  }

  void put_start(std::uint64_t bytes_after) {
    std::vector<std::string> names = {"data"};  // first, so that they are written in blocks
    for (const Field& f : other_fields()) names.push_back(f.name);
    const std::string before = data().before;
    out_.put(mat::file_head() +
             mat::struct_head("EEG", 1, names, before.size() + data_bytes() + bytes_after) + before);
  }

  struct Field {
    std::string name, array;
  };
  // What EEGLAB and those who read its files look for.
  std::vector<Field> other_fields() const {
    const auto frames = static_cast<double>(frames_);
    const std::string empty = mat::empty_array();
    const Matrix<double> none(0, 0);
    const EeglabIca ica =
        info_.ica ? eeglab_ica(*info_.ica, info_, scale_) : EeglabIca{none, none, none, none};
    return {{"setname", mat::text_array("written by demix")},
            {"filename", empty},
            {"filepath", empty},
            {"comments", empty},
            {"nbchan", mat::number_array("", static_cast<double>(info_.channels))},
            {"trials", mat::number_array("", 1)},
            {"pnts", mat::number_array("", frames)},
            {"srate", mat::number_array("", info_.rate)},
            {"xmin", mat::number_array("", 0)},
            {"xmax", mat::number_array("", (frames - 1) / info_.rate)},
            {"times", empty},
            {"icaact", empty},
            {"icawinv", mat::matrix_array(*ica.inverse)},
            {"icasphere", mat::matrix_array(*ica.sphere)},
            {"icaweights", mat::matrix_array(*ica.weights)},
            {"icachansind", mat::matrix_array(*ica.channels)},
            {"chanlocs", chanlocs()},
            {"urchanlocs", empty},
            {"ref", mat::text_array("common")},
            {"event", events()},
            {"urevent", empty},
            {"epoch", empty},
            {"reject", empty},
            {"stats", empty},
            {"history", empty},
            {"saved", mat::text_array("yes")},
            {"etc", empty}};
  }

  // Places in millimetres, +X to the nose and +Y to the left, and as EEGLAB's polar coordinates.
  std::string chanlocs() const {
    if (info_.names.empty() && info_.positions.empty()) return mat::empty_array();
    const auto n = static_cast<std::size_t>(info_.channels);
    std::vector<std::string> fields = {"labels", "X", "Y", "Z", "theta", "radius"};
    const bool has_types =
        std::ranges::any_of(info_.types, [](ChannelType t) { return t != ChannelType::unknown; });
    if (has_types) fields.emplace_back("type");
    std::string items;
    for (std::size_t i = 0; i < n; ++i) {
      items += mat::text_array(info_.names.empty() ? std::to_string(i + 1) : info_.names[i]);
      if (info_.positions.empty() || !info_.positions[i]) {
        for (int k = 0; k < 5; ++k) items += mat::empty_array();
      } else {
        const auto [x, y, z] = *info_.positions[i];
        const double degree = std::numbers::pi / 180;
        for (const double v : {1000 * y, -1000 * x, 1000 * z, std::atan2(x, y) / degree,
                               std::atan2(std::hypot(x, y), z) / degree / 180}) {
          items += mat::number_array("", v);
        }
      }
      if (has_types) items += mat::text_array(upper(type_name(info_.types[i])));
    }
    return mat::struct_head("", n, fields, items.size()) + items;
  }

  std::string events() const {
    if (info_.annotations.empty()) return mat::empty_array();
    std::string items;
    for (const Annotation& a : info_.annotations) {
      items += mat::text_array(a.text) + mat::number_array("", a.onset * info_.rate + 1) +
               (a.duration >= 0 ? mat::number_array("", a.duration * info_.rate) : mat::empty_array());
    }
    return mat::struct_head("", info_.annotations.size(), {"type", "latency", "duration"}, items.size()) +
           items;
  }

  SignalInfo info_;
  Vector<double> scale_;
  std::uint64_t frames_ = 0;
  OutputFile out_;
};

}  // namespace

Writer create_set(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<SetWriter>(file, info);
}

}  // namespace demix::io
