#include "outputs.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace demix::cli {
namespace fs = std::filesystem;

bool is_scaled(io::Kind kind) { return kind == io::Kind::sound || kind == io::Kind::picture; }

std::vector<Scaling> scaling_of_sources(io::Kind kind, const std::vector<io::Range>& ranges) {
  constexpr double peak = 0.9;  // of full scale
  std::vector<Scaling> out;
  for (const io::Range& r : ranges) {
    if (kind == io::Kind::sound) {
      const double largest = std::max(std::abs(r.least), std::abs(r.most));
      out.push_back({largest > 0 ? peak / largest : 1, 0});
    } else if (kind == io::Kind::picture) {
      const double gain = r.most > r.least ? 1 / (r.most - r.least) : 0;
      out.push_back({gain, gain > 0 ? -gain * r.least : 0.5});
    }
  }
  return out;
}

std::vector<io::Range> ranges_for(io::Kind kind, const Recording& recording) {
  std::vector<io::Range> ranges(static_cast<std::size_t>(recording.channels()));
  if (kind == io::Kind::numbers) return ranges;
  bool first = true;
  recording.pass([&](const Frames<double>& block) {
    for (Index i = 0; i < block.rows(); ++i) {
      io::Range& r = ranges[static_cast<std::size_t>(i)];
      const double least = block.row(i).minCoeff();
      const double most = block.row(i).maxCoeff();
      r = first ? io::Range{least, most} : io::Range{std::min(r.least, least), std::max(r.most, most)};
    }
    first = false;
  });
  return ranges;
}

io::Facts facts_of_sources(const io::Facts& facts, Index sources) {
  io::Facts out = facts;
  out.channels = sources;
  out.units.clear();
  out.notes.clear();
  out.names.clear();
  for (Index k = 0; k < sources && !facts.names.empty(); ++k)
    out.names.push_back(fmt::format("source{}", k + 1));
  return out;
}

std::vector<fs::path> output_paths(const fs::path& path, Index channels, bool each) {
  if (!each) return {path};
  const std::size_t digits = std::to_string(channels).size();
  std::vector<fs::path> paths;
  for (Index k = 1; k <= channels; ++k) {
    paths.push_back(path.parent_path() /
                    fmt::format("{}{:0{}}{}", path.stem().string(), k, digits, path.extension().string()));
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

void write_recording(io::NewFiles& files, const std::vector<fs::path>& paths, const io::Facts& facts,
                     const Recording& recording, std::vector<io::Range> ranges,
                     const std::vector<Scaling>& scaling) {
  Vector<double> gain = Vector<double>::Ones(recording.channels());
  Vector<double> offset = Vector<double>::Zero(recording.channels());
  for (std::size_t k = 0; k < scaling.size(); ++k) {
    gain(static_cast<Index>(k)) = scaling[k].gain;
    offset(static_cast<Index>(k)) = scaling[k].offset;
    ranges[k] = {scaling[k].gain * ranges[k].least + scaling[k].offset,
                 scaling[k].gain * ranges[k].most + scaling[k].offset};
  }
  std::vector<std::unique_ptr<io::SignalWriter>> writers;
  if (paths.size() == 1) {
    writers.push_back(io::create_signals(files, paths[0], facts, ranges));
  } else {
    for (std::size_t k = 0; k < paths.size(); ++k) {
      io::Facts one = facts;
      one.channels = 1;
      if (!facts.names.empty()) one.names = {facts.names[k]};
      if (!facts.units.empty()) one.units = {facts.units[k]};
      writers.push_back(io::create_signals(files, paths[k], one, {ranges[k]}));
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

}  // namespace demix::cli
