#include <algorithm>
#include <cmath>

#include "io/eeglab_positions.hpp"
#include "io/failure.hpp"
#include "io/hdf5_file.hpp"
#include "io/named_arrays.hpp"
#include "io/numbers.hpp"
#include "io/orientation.hpp"

/// MATLAB's files of version 7.3: matrices, and EEGLAB's datasets.
namespace demix::io {
#ifdef DEMIX_HAVE_HDF5
namespace {

std::uint64_t whole(const hdf5::File& mat, const std::string& path, std::uint64_t otherwise,
                    const Path& file) {
  const double value = mat.number(path).value_or(static_cast<double>(otherwise));
  if (!(value >= 1 && value < 0x1p40) || value != std::trunc(value)) {
    throw Error(file.string() + ": " + path.substr(1) + " is not a whole number above 0; it is damaged");
  }
  return static_cast<std::uint64_t>(value);
}

void add_channels(SignalInfo& info, const hdf5::File& mat, const std::string& chanlocs) {
  const auto n = static_cast<std::size_t>(info.channels);
  if (!mat.has(chanlocs)) return;
  const auto names = mat.texts(chanlocs + "/labels");
  if (names.size() == n) info.names = names;
  const auto types = mat.texts(chanlocs + "/type");
  if (types.size() == n) {
    for (const std::string& type : types)
      info.types.push_back(type_named(type).value_or(ChannelType::unknown));
  }
  const auto x = mat.numbers(chanlocs + "/X"), y = mat.numbers(chanlocs + "/Y"),
             z = mat.numbers(chanlocs + "/Z");
  if (x.size() != n || y.size() != n || z.size() != n) return;
  std::vector<Position> places;
  for (std::size_t i = 0; i < n; ++i) places.push_back({x[i], y[i], z[i]});
  set_eeglab_positions(info, places);
}

void add_events(SignalInfo& info, const hdf5::File& mat, const std::string& events, const Path& file) {
  if (!mat.has(events + "/latency")) return;
  const auto frames = mat.numbers(events + "/latency");
  const auto texts = mat.has(events + "/type") ? mat.texts(events + "/type") : std::vector<std::string>{};
  const auto lasts =
      mat.has(events + "/duration") ? mat.numbers(events + "/duration") : std::vector<double>{};
  std::size_t lost = 0;
  for (std::size_t k = 0; k < frames.size(); ++k) {
    if (!std::isfinite(frames[k])) {
      ++lost;
      continue;
    }
    const bool told = k < lasts.size() && lasts[k] >= 0;
    info.annotations.push_back(
        {(frames[k] - 1) / info.rate, told ? lasts[k] / info.rate : -1, k < texts.size() ? texts[k] : ""});
  }
  if (lost > 0) {
    info.notes.push_back(file.string() + ": " + std::to_string(lost) +
                         " events without a latency are left out");
  }
}

}  // namespace

Reader open_set_hdf5(const Path& file, const ReadOptions& options) {
  auto mat = std::make_unique<hdf5::File>(file);
  const std::string eeg = mat->has("/EEG") ? "/EEG" : "";
  const std::string data = eeg + "/data";
  if (!mat->has(data))
    throw Error(file.string() + ": has neither a struct EEG nor data; it is no EEGLAB dataset");
  const bool beside = mat->is_text(data);
  if (!beside && !mat->is_numbers(data))
    throw Error(file.string() + ": EEG.data is not numbers; it is damaged");
  const std::vector<std::uint64_t> shape = mat->shape(data);
  const auto extent = [&](std::size_t k) {
    return !beside && k < shape.size() ? shape[k] : std::uint64_t{1};
  };
  const std::uint64_t channels = whole(*mat, eeg + "/nbchan", extent(0), file);
  const std::uint64_t points = whole(*mat, eeg + "/pnts", extent(1), file);
  const std::uint64_t trials = whole(*mat, eeg + "/trials", extent(2), file);
  require_channels(channels, file.string());
  const bool as_told =
      (shape.size() == 2 && shape[0] == channels && shape[1] / points == trials && shape[1] % points == 0) ||
      (shape.size() == 3 && shape[0] == channels && shape[1] == points && shape[2] == trials);
  if (!beside && !as_told) {
    throw Error(file.string() + ": EEG.data is " + size_text(shape) + " where EEG says " +
                size_text({channels, points, trials}) + "; it is damaged");
  }
  SignalInfo info;
  info.channels = static_cast<Index>(channels);
  info.frames = static_cast<Index>(points * trials);
  info.rate = mat->number(eeg + "/srate").value_or(0);
  if (!(info.rate > 0 && std::isfinite(info.rate))) info.rate = options.rate;
  if (!(info.rate > 0)) throw Error(file.string() + ": EEG.srate is not a number above 0; give `rate`");
  info.units.assign(channels, "uV");
  add_channels(info, *mat, eeg + "/chanlocs");
  add_events(info, *mat, eeg + "/event", file);
  if (trials > 1) {
    for (std::uint64_t k = 1; k < trials; ++k)
      info.annotations.push_back({static_cast<double>(k * points) / info.rate, -1, "boundary"});
    info.notes.push_back(file.string() + ": its " + std::to_string(trials) + " epochs of " +
                         std::to_string(points) + " frames are taken one after the other");
  }
  if (!beside) return hdf5::File::open(std::move(mat), data, false, std::move(info));
  NumbersLayout layout;
  layout.type = number_type('f', 4);
  layout.frames = points * trials;
  layout.info = std::move(info);
  const Path numbers = set_data_file(file, mat->text(data));
  layout.info.files_beside = {numbers};
  return open_numbers(std::make_shared<const FileBytes>(numbers), std::move(layout));
}

Reader open_mat_hdf5(const Path& file, const ReadOptions& options) {
  auto mat = std::make_unique<hdf5::File>(file);
  std::vector<NamedArray> arrays;
  SignalInfo info;
  for (const std::string& name : mat->names("/")) {
    if (name.starts_with('#')) continue;
    NamedArray array{name, mat->shape("/" + name), false};
    array.is_signals =
        mat->is_numbers("/" + name) && array.shape.size() == 2 && array.shape[0] * array.shape[1] > 1;
    for (const char* rate : {"fs", "Fs", "srate", "rate"}) {
      if (name == rate) info.rate = mat->number("/" + name).value_or(0);
    }
    arrays.push_back(std::move(array));
  }
  if (!(info.rate > 0 && std::isfinite(info.rate))) info.rate = options.rate;
  const NamedArray& array = arrays[choose_array(arrays, options.variable, file)];
  const std::string quoted = file.string() + ": '" + printable(array.name) + "'";
  if (!array.is_signals) throw Error(quoted + " is not a matrix of numbers");
  NumbersLayout layout;
  layout.info = info;
  set_shape(layout, array.shape[0], array.shape[1], true, options.orientation, quoted);
  require_channels(static_cast<std::uint64_t>(layout.info.channels), quoted);
  layout.info.frames = static_cast<Index>(layout.frames);
  const std::string path = "/" + array.name;
  return hdf5::File::open(std::move(mat), path, layout.planar, std::move(layout.info));
}
#else
namespace {

Error without(const Path& file) {
  return built_without("HDF5", file.string(), "MATLAB files of version 7.3", "version 7 (save with -v7)");
}

}  // namespace

Reader open_set_hdf5(const Path& file, const ReadOptions&) { throw without(file); }
Reader open_mat_hdf5(const Path& file, const ReadOptions&) { throw without(file); }
#endif

}  // namespace demix::io
