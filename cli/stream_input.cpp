#include "stream_input.hpp"

#include <algorithm>

namespace demix::cli {

StreamInput::StreamInput(const std::string& name, std::optional<io::Encoding> encoding,
                         const io::ReadOptions& asked) {
  if (encoding) {
    stream_.emplace(name, *encoding, asked);
    info_ = stream_->info();
    io::complete_types(info_, *encoding == io::Encoding::wav ? io::Kind::sound : io::Kind::numbers);
  } else {
    file_.emplace(std::vector<std::filesystem::path>{name}, asked);
    reading_ = file_->read();
    info_ = file_->info();
  }
}

std::optional<io::Kind> StreamInput::kind() const {
  if (stream_) return std::nullopt;
  return io::format_of(file_->paths()[0]).kind;
}

std::optional<double> StreamInput::progress() const {
  if (stream_) return stream_->progress();
  const Index all = info_.frames;
  return all > 0 ? static_cast<double>(frames_) / static_cast<double>(all) : 0.0;
}

Index StreamInput::read_some(const Eigen::Ref<Matrix<double>>& out) {
  if (stream_) return stream_->read_some(out);
  const Index got = reading_->next(out);
  ended_ = got < out.cols();
  frames_ += got;
  return got;
}

void StreamInput::skip(std::int64_t frames) {
  if (stream_) return stream_->skip(frames);
  Matrix<double> dropped(info().channels, 4096);
  while (frames > 0) {
    const Index got = read_some(dropped.leftCols(std::min<std::int64_t>(frames, dropped.cols())));
    if (got == 0) throw io::Error("the file is shorter than the state says");
    frames -= got;
  }
}

}  // namespace demix::cli
