#include "demix/output_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <system_error>

namespace demix::io {
namespace fs = std::filesystem;

bool is_scaled(Kind kind) { return kind == Kind::sound || kind == Kind::picture; }

std::vector<Scaling> source_scaling(Kind kind, const std::vector<ValueRange>& ranges) {
  constexpr double peak = 0.9;  // of full scale
  std::vector<Scaling> out;
  for (const ValueRange& r : ranges) {
    if (kind == Kind::sound) {
      const double largest = std::max(std::abs(r.least), std::abs(r.most));
      out.push_back({largest > 0 ? peak / largest : 1, 0});
    } else if (kind == Kind::picture) {
      const double gain = r.most > r.least ? 1 / (r.most - r.least) : 0;
      out.push_back({gain, gain > 0 ? -gain * r.least : 0.5});
    }
  }
  return out;
}

std::vector<ValueRange> value_ranges(Kind kind, const Recording& recording) {
  std::vector<ValueRange> ranges(static_cast<std::size_t>(recording.channels()));
  if (kind == Kind::numbers) return ranges;
  bool first = true;
  recording.pass([&](const Frames<double>& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      ValueRange& r = ranges[static_cast<std::size_t>(i)];
      const double least = block.row(i).minCoeff();
      const double most = block.row(i).maxCoeff();
      r = first ? ValueRange{least, most} : ValueRange{std::min(r.least, least), std::max(r.most, most)};
    }
    first = false;
  });
  return ranges;
}

SignalInfo source_info(const SignalInfo& mixtures, Index sources) {
  SignalInfo out = mixtures;
  out.channels = sources;
  out.units.clear();
  out.types.clear();
  out.positions.clear();
  out.notes.clear();
  out.others = nullptr;
  out.names.clear();
  for (Index k = 0; k < sources && !mixtures.names.empty(); ++k)
    out.names.push_back("source" + std::to_string(k + 1));
  return out;
}

std::string written_extension(const fs::path& input) {
  const Format& format = format_of(input);
  if (format.is_written()) return input.extension().string();
  return format.kind == Kind::sound ? ".wav" : format.kind == Kind::biosignal ? ".vhdr" : ".npy";
}

fs::path output_path(const fs::path& input, const fs::path& folder, const std::string& stem) {
  const Format& format = format_of(input);
  return folder / (stem + (is_scaled(format.kind) ? "" : "s") + written_extension(input));
}

std::vector<fs::path> output_paths(const fs::path& path, Index channels, bool each) {
  if (!each) return {path};
  const std::size_t digits = std::to_string(channels).size();
  std::vector<fs::path> paths;
  for (Index k = 1; k <= channels; ++k) {
    std::string number = std::to_string(k);
    number.insert(0, digits - number.size(), '0');
    paths.push_back(path.parent_path() / (path.stem().string() + number + path.extension().string()));
  }
  return paths;
}

std::vector<fs::path> possible_paths(const fs::path& path, bool each) {
  if (!each) return {path};
  const std::string stem = path.stem().string();
  const auto is_numbered = [&](const std::string& other) {
    return other.size() > stem.size() && other.starts_with(stem) &&
           other.find_first_not_of("0123456789", stem.size()) == std::string::npos;
  };
  std::vector<fs::path> paths;
  std::error_code none;  // a folder that is not there has no files
  for (const auto& entry : fs::directory_iterator(fs::absolute(path, none).parent_path(), none)) {
    if (entry.path().extension() == path.extension() && is_numbered(entry.path().stem().string())) {
      paths.push_back(path.parent_path() / entry.path().filename());
    }
  }
  return paths;
}

void write_recording(NewFiles& files, const std::vector<fs::path>& paths, const SignalInfo& info,
                     const Recording& recording, std::vector<ValueRange> ranges,
                     const std::vector<Scaling>& scaling) {
  Vector<double> gain = Vector<double>::Ones(recording.channels());
  Vector<double> offset = Vector<double>::Zero(recording.channels());
  for (std::size_t k = 0; k < scaling.size(); ++k) {
    gain(static_cast<Index>(k)) = scaling[k].gain;
    offset(static_cast<Index>(k)) = scaling[k].offset;
    ranges[k] = {scaling[k].gain * ranges[k].least + scaling[k].offset,
                 scaling[k].gain * ranges[k].most + scaling[k].offset};
  }
  std::vector<std::unique_ptr<SignalWriter>> writers;
  if (paths.size() == 1) {
    writers.push_back(create_signals(files, paths[0], info, ranges));
  } else {
    for (std::size_t k = 0; k < paths.size(); ++k) {
      SignalInfo one = info;
      one.channels = 1;
      if (!info.names.empty()) one.names = {info.names[k]};
      if (!info.units.empty()) one.units = {info.units[k]};
      if (!info.types.empty()) one.types = {info.types[k]};
      if (!info.positions.empty()) one.positions = {info.positions[k]};
      writers.push_back(create_signals(files, paths[k], one, {ranges[k]}));
    }
  }
  const auto write = [&](const Frames<double>& block) {
    if (writers.size() == 1) return writers[0]->write(block);
    for (std::size_t k = 0; k < writers.size(); ++k) {
      writers[k]->write(Matrix<double>(block.row(static_cast<Index>(k))));
    }
  };
  recording.pass([&](const Frames<double>& block) {
    if (scaling.empty()) return write(block);
    write((gain.asDiagonal() * block).colwise() + offset);
  });
  for (const auto& writer : writers) writer->finish();
}

void make_folder(const fs::path& folder) {
  if (folder.empty()) throw Error("the output folder has no name");
  std::error_code error;
  if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
    throw Error(folder.string() + ": cannot make this folder; a file has that name");
  }
  try {
    make_folders(folder);
  } catch (const std::system_error& e) {
    throw Error(folder.string() + ": cannot make this folder: " + e.code().message());
  }
  if (::access(folder.c_str(), W_OK) != 0) throw Error(folder.string() + ": cannot write to this folder");
}

}  // namespace demix::io
