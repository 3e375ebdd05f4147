#include <algorithm>
#include <cmath>
#include <string>

#include "demix/signal_files.hpp"
#include "io/bids.hpp"
#include "io/orientation.hpp"
#include "io/utf.hpp"

namespace demix::io {
namespace fs = std::filesystem;

namespace {

void append(std::vector<fs::path>& all, const std::vector<fs::path>& more) {
  all.insert(all.end(), more.begin(), more.end());
}

}  // namespace

void complete_types(SignalInfo& info, Kind kind) {
  if (kind == Kind::sound || kind == Kind::picture) info.types.clear();
  if (kind == Kind::sound || kind == Kind::picture || (info.names.empty() && info.positions.empty())) return;
  info.types.resize(static_cast<std::size_t>(info.channels), ChannelType::unknown);
  for (std::size_t i = 0; i < info.types.size(); ++i) {
    ChannelType& type = info.types[i];
    if (type == ChannelType::unknown && !info.names.empty()) type = type_of_name(info.names[i]);
    if (type == ChannelType::unknown && !info.positions.empty() && info.positions[i]) type = ChannelType::eeg;
  }
}

FileRecording::FileRecording(std::vector<fs::path> paths, const ReadOptions& options, Join join)
    : paths_(std::move(paths)), options_(options), join_(join) {
  if (paths_.empty()) throw std::invalid_argument("paths: expected at least one");
  for (const fs::path& path : paths_) readers_.push_back(open_signals(path, options));
  info_ = readers_[0]->info();
  if (readers_.size() == 1) {
    add_bids(info_, paths_[0]);
    complete_types(info_, format_of(paths_[0]).kind);
    return;
  }
  info_.others = nullptr;
  join_ == Join::frames ? join_frames() : join_channels();
}

void FileRecording::join_frames() {
  info_.start.clear();
  for (std::size_t k = 0; k < readers_.size(); ++k) {
    const SignalInfo& one = readers_[k]->info();
    if (one.channels != info_.channels || one.rate != info_.rate || one.names != info_.names ||
        one.width > 0) {
      throw Error(paths_[k].string() +
                  (one.width > 0 ? ": is a picture; pictures cannot follow each other"
                                 : ": its channels or its rate are not those of " + paths_[0].string() +
                                       "; files that follow each other must agree"));
    }
    if (k == 0) continue;
    const double before = info_.rate > 0 ? static_cast<double>(info_.frames) / info_.rate : 0;
    for (Annotation a : one.annotations) {
      a.onset += before;
      info_.annotations.push_back(std::move(a));
    }
    info_.notes.insert(info_.notes.end(), one.notes.begin(), one.notes.end());
    append(info_.files_beside, one.files_beside);
    info_.frames = info_.frames > 0 && one.frames > 0 ? info_.frames + one.frames : 0;
  }
  complete_types(info_, format_of(paths_[0]).kind);
}

void FileRecording::join_channels() {
  info_.channels = 0;
  info_.names.clear();
  info_.units.clear();
  info_.types.clear();
  info_.positions.clear();
  info_.notes.clear();
  info_.files_beside.clear();
  for (std::size_t k = 0; k < readers_.size(); ++k) {
    const SignalInfo& one = readers_[k]->info();
    if (one.rate != info_.rate || one.width != info_.width || one.height != info_.height) {
      const auto what = [](const SignalInfo& f) {
        if (f.width > 0) return std::to_string(f.width) + " x " + std::to_string(f.height) + " pixels";
        return f.rate > 0 ? std::to_string(std::lround(f.rate)) + " frames per second" : "no rate";
      };
      throw Error(paths_[k].string() + ": has " + what(one) + " where " + paths_[0].string() + " has " +
                  what(info_) + "; files given together must agree");
    }
    info_.channels += one.channels;
    info_.notes.insert(info_.notes.end(), one.notes.begin(), one.notes.end());
    append(info_.files_beside, one.files_beside);
    for (Index i = 0; i < one.channels; ++i) {
      const auto c = static_cast<std::size_t>(i);
      const std::string stem = as_utf8(paths_[k].stem().string());
      info_.names.push_back(!one.names.empty()  ? one.names[c]
                            : one.channels == 1 ? stem
                                                : stem + " " + std::to_string(i + 1));
      info_.units.push_back(one.units.empty() ? "" : one.units[c]);
      info_.types.push_back(one.types.empty() ? ChannelType::unknown : one.types[c]);
      info_.positions.push_back(one.positions.empty() ? std::nullopt : one.positions[c]);
    }
  }
  complete_types(info_, format_of(paths_[0]).kind);
  require_channels(static_cast<std::uint64_t>(info_.channels), paths_[0].string() + " and those with it");
}

std::vector<fs::path> FileRecording::files() const {
  std::vector<fs::path> all = paths_;
  append(all, info_.files_beside);
  return all;
}

std::string FileRecording::name() const {
  if (paths_.size() == 1) return paths_[0].string();
  return paths_[0].string() + " and " + std::to_string(paths_.size() - 1) + " more";
}

double FileRecording::resolution() const {
  double coarsest = 0;
  for (const auto& reader : readers_) coarsest = std::max(coarsest, reader->resolution());
  return coarsest;
}

constexpr Index kept_values = Index{1} << 24;  // 128 MiB

class FileRecording::FileReading final : public Recording::Reading {
 public:
  explicit FileReading(const FileRecording& files) : files_(files) {}
  Index next(Eigen::Ref<Matrix<double>> out) override {
    Index frames = 0;
    if (files_.is_kept_) {
      frames = std::min(out.cols(), files_.kept_.cols() - at_);
      out.leftCols(frames) = files_.kept_.middleCols(at_, frames);
    } else {
      frames = files_.next(out, at_);
    }
    at_ += frames;
    return frames;
  }

 private:
  const FileRecording& files_;
  Index at_ = 0;
};

std::unique_ptr<Recording::Reading> FileRecording::read() const {
  if (!is_kept_) {
    is_large_ = is_large_ || info_.frames > kept_values / channels();
    for (const auto& reader : readers_) reader->rewind();
    current_ = 0;
    kept_.resize(channels(), 0);
  }
  return std::make_unique<FileReading>(*this);
}

// What is small is better kept, which the first reading does.
bool FileRecording::random_access() const {
  const auto can = [](const auto& reader) { return reader->random_access() && reader->info().frames > 0; };
  return is_kept_ || ((readers_.size() == 1 || join_ == Join::frames) && std::ranges::all_of(readers_, can) &&
                      info_.frames > kept_values / channels());
}

template <typename T>
void FileRecording::read_joined(Index first, Matrix<T>& out) const {
  Index done = 0;
  Index before = 0;
  for (const auto& reader : readers_) {
    const Index end = before + reader->info().frames;
    if (first + done < end) {
      Matrix<T> part(channels(), std::min(out.cols() - done, end - first - done));
      if constexpr (std::is_same_v<T, float>) {
        reader->read_at(first + done - before, part);
      } else {
        reader->read_at(first + done - before, Eigen::Ref<Matrix<double>>(part));
      }
      if (part.cols() == out.cols()) return out.swap(part);
      out.middleCols(done, part.cols()) = part;
      done += part.cols();
      if (done == out.cols()) return;
    }
    before = end;
  }
}

AnyFrames FileRecording::frames_at(Index first, Index count, FrameBuffer& buffer) const {
  if (is_kept_) return Frames<double>(kept_.middleCols(first, count));
  if (std::ranges::all_of(readers_, [](const auto& reader) { return reader->holds_floats(); })) {
    buffer.floats.resize(channels(), count);
    readers_.size() == 1 ? readers_[0]->read_at(first, buffer.floats) : read_joined(first, buffer.floats);
    return Frames<float>(buffer.floats);
  }
  buffer.doubles.resize(channels(), count);
  readers_.size() == 1 ? readers_[0]->read_at(first, buffer.doubles) : read_joined(first, buffer.doubles);
  return Frames<double>(buffer.doubles);
}

// Of all files, so many frames after the first.
Index FileRecording::next(Eigen::Ref<Matrix<double>> out, Index before) const {
  Index frames = 0;
  if (readers_.size() == 1) {
    frames = readers_[0]->read(out);
  } else if (join_ == Join::channels) {
    frames = next_of_all(out, before);
  } else {
    while (frames < out.cols() && current_ < readers_.size()) {
      const Index got = readers_[current_]->read(out.middleCols(frames, out.cols() - frames));
      frames += got;
      if (got == 0) ++current_;
    }
  }
  keep(out.leftCols(frames), before);
  return frames;
}

Index FileRecording::next_of_all(Eigen::Ref<Matrix<double>> out, Index before) const {
  Index first = 0;
  Index row = 0;
  Matrix<double> part;
  for (std::size_t k = 0; k < readers_.size(); ++k) {
    part.resize(readers_[k]->info().channels, out.cols());
    const Index got = readers_[k]->read(part);
    if (k == 0) first = got;
    if (got != first) {
      throw Error(paths_[k].string() + ": is " + (got < first ? "shorter" : "longer") + " than " +
                  paths_[0].string() + ", which has " + (got < first ? "more than " : "") +
                  std::to_string(before + std::min(got, first)) + " frames; files given together must agree");
    }
    out.middleRows(row, part.rows()).leftCols(got) = part.leftCols(got);
    row += part.rows();
  }
  return first;
}

// Unless it turns out to be large.
void FileRecording::keep(const Frames<double>& part, Index before) const {
  if (is_large_) return;
  if (part.cols() == 0) {
    kept_.conservativeResize(Eigen::NoChange, before);
    is_kept_ = true;
    return;
  }
  is_large_ = (before + part.cols()) > kept_values / channels();
  if (is_large_) return kept_.resize(0, 0);
  if (before + part.cols() > kept_.cols()) {
    kept_.conservativeResize(Eigen::NoChange, std::max(2 * kept_.cols(), before + part.cols()));
  }
  kept_.middleCols(before, part.cols()) = part;
}

Signals read_signals(const fs::path& path) {
  const FileRecording recording({path});
  return {gather(recording), recording.info().rate, recording.info().names};
}

Matrix<double> read_matrix(const fs::path& path) {
  ReadOptions as_it_is;
  as_it_is.time_column = 0;
  as_it_is.orientation = Orientation::frames;
  return gather(FileRecording({path}, as_it_is)).transpose();
}

void write_signals(const fs::path& path, const Signals& signals) {
  SignalInfo info;
  info.channels = signals.data.rows();
  info.rate = signals.rate;
  info.names = signals.names;
  info.frames = signals.data.cols();
  std::vector<ValueRange> ranges;
  for (Index i = 0; i < signals.data.rows(); ++i) {
    if (signals.data.cols() > 0)
      ranges.push_back({signals.data.row(i).minCoeff(), signals.data.row(i).maxCoeff()});
  }
  NewFiles files;
  const auto writer = create_signals(files, path, info, ranges);
  writer->write(signals.data);
  writer->finish();
  files.commit();
}

}  // namespace demix::io
