#include <algorithm>
#include <array>
#include <cctype>
#include <new>
#include <string>

#include "demix/signal_files.hpp"
#include "demix/signal_stream.hpp"
#include "io/edf_fields.hpp"
#include "io/file_bytes.hpp"
#include "io/format_files.hpp"
#include "io/numbers.hpp"
#include "io/orientation.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

template <Encoding encoding>
Reader open_raw(const Path& file, const ReadOptions& options) {
  NumbersLayout layout;
  layout.type = number_type(encoding);
  layout.info.channels = options.channels;
  layout.info.rate = options.rate;
  layout.planar = options.orientation == Orientation::channels;
  return open_numbers(std::make_shared<const FileBytes>(file), std::move(layout));
}

template <Encoding encoding>
Writer create_stream(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<StreamWriter>(file.string(), encoding, info);
}

const std::vector<Format>& table() {
  static const std::vector<Format> rows = {
      {.name = "WAV",
       .kind = Kind::sound,
       .extensions = {".wav"},
       .open = open_wav,
       .create = create_stream<Encoding::wav>,
       .encoding = Encoding::wav},
      {.name = "FLAC",
       .kind = Kind::sound,
       .extensions = {".flac"},
       .open = open_sound,
       .create = create_flac},
      {.name = "OGG", .kind = Kind::sound, .extensions = {".ogg"}, .open = open_sound, .create = create_ogg},
      {.name = "MP3", .kind = Kind::sound, .extensions = {".mp3"}, .open = open_sound, .create = nullptr},
      {.name = "AIFF",
       .kind = Kind::sound,
       .extensions = {".aiff", ".aif"},
       .open = open_sound,
       .create = create_aiff},
      {.name = "EDF",
       .kind = Kind::biosignal,
       .extensions = {".edf"},
       .open = open_edf,
       .create = create_edf},
      {.name = "BDF",
       .kind = Kind::biosignal,
       .extensions = {".bdf"},
       .open = open_edf,
       .create = create_bdf},
      {.name = "comma-separated text",
       .kind = Kind::numbers,
       .extensions = {".csv"},
       .open = open_text,
       .create = create_stream<Encoding::csv>,
       .encoding = Encoding::csv},
      {.name = "text",
       .kind = Kind::numbers,
       .extensions = {".tsv", ".txt", ".dat"},
       .open = open_text,
       .create = create_stream<Encoding::tsv>,
       .encoding = Encoding::tsv},
      {.name = "NumPy array",
       .kind = Kind::numbers,
       .extensions = {".npy"},
       .open = open_npy,
       .create = create_npy},
      {.name = "NumPy archive",
       .kind = Kind::numbers,
       .extensions = {".npz"},
       .open = open_npz,
       .create = create_npz},
      {.name = "MATLAB",
       .kind = Kind::numbers,
       .extensions = {".mat"},
       .open = open_mat,
       .create = create_mat},
      {.name = "EEGLAB",
       .kind = Kind::biosignal,
       .extensions = {".set"},
       .open = open_set,
       .create = create_set},
      {.name = "BrainVision",
       .kind = Kind::biosignal,
       .extensions = {".vhdr"},
       .open = open_brainvision,
       .create = nullptr,
       .others = {".eeg", ".vmrk"},
       .create_all = create_brainvision},
      {.name = "GDF", .kind = Kind::biosignal, .extensions = {".gdf"}, .open = open_gdf, .create = nullptr},
      {.name = "XDF", .kind = Kind::biosignal, .extensions = {".xdf"}, .open = open_xdf, .create = nullptr},
      {.name = "raw 32-bit floats",
       .kind = Kind::numbers,
       .extensions = {".f32"},
       .open = open_raw<Encoding::f32>,
       .create = create_stream<Encoding::f32>,
       .encoding = Encoding::f32},
      {.name = "raw 64-bit floats",
       .kind = Kind::numbers,
       .extensions = {".f64"},
       .open = open_raw<Encoding::f64>,
       .create = create_stream<Encoding::f64>,
       .encoding = Encoding::f64},
      {.name = "raw 16-bit whole numbers",
       .kind = Kind::numbers,
       .extensions = {".s16"},
       .open = open_raw<Encoding::s16>,
       .create = nullptr,
       .encoding = Encoding::s16},
      {.name = "raw 32-bit whole numbers",
       .kind = Kind::numbers,
       .extensions = {".s32"},
       .open = open_raw<Encoding::s32>,
       .create = nullptr,
       .encoding = Encoding::s32},
      {.name = "PNG",
       .kind = Kind::picture,
       .extensions = {".png"},
       .open = open_picture,
       .create = create_png},
      {.name = "JPEG",
       .kind = Kind::picture,
       .extensions = {".jpg", ".jpeg"},
       .open = open_picture,
       .create = create_jpeg},
      {.name = "TIFF",
       .kind = Kind::picture,
       .extensions = {".tif", ".tiff"},
       .open = open_picture,
       .create = create_tiff},
      {.name = "PGM",
       .kind = Kind::picture,
       .extensions = {".pgm", ".ppm", ".pnm"},
       .open = open_picture,
       .create = create_pnm},
  };
  return rows;
}

std::string lower_extension(const fs::path& path) {
  std::string ext = path.extension().string();
  std::transform(ext.begin(), ext.end(), ext.begin(), [](unsigned char c) { return std::tolower(c); });
  return ext;
}

const Format* find_format(const fs::path& path) {
  const std::string ext = lower_extension(path);
  for (const Format& f : table()) {
    if (std::ranges::count(f.extensions, ext) > 0) return &f;
  }
  return nullptr;
}

}  // namespace

std::span<const Format> formats() { return table(); }

constexpr std::array<std::string_view, 7> names = {"f32", "f64", "s16", "s32", "wav", "csv", "tsv"};

std::string_view encoding_name(Encoding encoding) { return names[static_cast<std::size_t>(encoding)]; }

std::vector<std::string> encoding_names() { return {names.begin(), names.end()}; }

Encoding encoding_named(std::string_view name) {
  const auto at = std::ranges::find(names, name);
  if (at != names.end()) return static_cast<Encoding>(at - names.begin());
  throw std::invalid_argument("no stream format '" + std::string(name) +
                              "'; use f32, f64, s16, s32, wav, csv or tsv");
}

std::optional<Encoding> encoding_of(const fs::path& path) {
  const Format* format = find_format(path);
  return format == nullptr ? std::nullopt : format->encoding;
}

std::string extensions_text() {
  std::string text;
  for (const Format& f : table()) {
    for (const std::string_view ext : f.extensions) text.append(text.empty() ? "" : ", ").append(ext);
  }
  return text;
}

const Format& format_of(const fs::path& path) {
  if (const Format* f = find_format(path)) return *f;
  throw Error(path.string() + ": unknown kind of file; expected " + extensions_text());
}

bool holds_others(const fs::path& path, const SignalInfo& info) {
  const Format& format = format_of(path);
  return (format.open == open_edf) && edf::record_with_others(info).has_value();
}

bool is_supported(const fs::path& path) { return find_format(path) != nullptr; }

std::unique_ptr<SignalReader> open_signals(const fs::path& path, const ReadOptions& options) {
  const Format& format = format_of(path);
  require_rereadable(path);
  try {
    auto reader = format.open(path, options);
    require_channels(static_cast<std::uint64_t>(reader->info().channels), path.string());
    return reader;
  } catch (const std::bad_alloc&) {
    throw Error(path.string() + ": there is not enough memory to read it");
  }
}

namespace {

// What goes wrong is said of the file that was meant, not of its temporary name.
template <typename F>
auto under_name(const fs::path& temporary, const fs::path& path, F&& f) {
  try {
    return f();
  } catch (const Error& e) {
    std::string text = e.what();
    const std::string found = temporary.string();
    if (const auto at = text.find(found); at != std::string::npos)
      text.replace(at, found.size(), path.string());
    throw Error(text);
  }
}

class NamedWriter final : public SignalWriter {
 public:
  NamedWriter(std::unique_ptr<SignalWriter> writer, fs::path temporary, fs::path path)
      : writer_(std::move(writer)), temporary_(std::move(temporary)), path_(std::move(path)) {}
  void write(const Frames<double>& block) override {
    under_name(temporary_, path_, [&] { writer_->write(block); });
  }
  void finish() override {
    under_name(temporary_, path_, [&] { writer_->finish(); });
  }

 private:
  std::unique_ptr<SignalWriter> writer_;
  fs::path temporary_, path_;
};

}  // namespace

std::unique_ptr<SignalWriter> create_signals(NewFiles& files, const fs::path& path, const SignalInfo& info,
                                             const std::vector<ValueRange>& ranges) {
  const Format& format = format_of(path);
  if (!format.is_written()) {
    throw Error(path.string() + ": demix reads " + std::string(format.name) + " but does not write it; use " +
                (format.kind == Kind::sound       ? ".wav"
                 : format.kind == Kind::biosignal ? ".vhdr or .set"
                                                  : ".npy"));
  }
  if (!info.names.empty() && static_cast<Index>(info.names.size()) != info.channels) {
    throw std::invalid_argument("info.names must be one per channel or none");
  }
  const fs::path temporary = files.add(path);
  std::vector<fs::path> all = {temporary};
  for (const std::string_view other : format.others)
    all.push_back(files.add(fs::path(path).replace_extension(other)));
  auto writer = under_name(temporary, path, [&] {
    return format.create_all ? format.create_all(all, path.stem().string(), info, ranges)
                             : format.create(temporary, info, ranges);
  });
  return std::make_unique<NamedWriter>(std::move(writer), temporary, path);
}

void SignalReader::read_at(Index, Eigen::Ref<Matrix<double>>) const {
  throw std::logic_error("read_at: this file is read from its first frame on");
}

void SignalReader::read_at(Index, Matrix<float>&) const {
  throw std::logic_error("read_at: this file does not hold floats");
}

}  // namespace demix::io
