#include "stream_input.hpp"

#include <algorithm>

namespace demix::cli {

StreamInput::StreamInput(const std::string& name, std::optional<io::Encoding> encoding,
                         const io::ReadOptions& asked) {
  if (encoding) {
    stream_.emplace(name, *encoding, asked);
  } else {
    file_ = io::open_signals(name, asked);
  }
}

std::optional<double> StreamInput::progress() const {
  if (stream_) return stream_->progress();
  const Index all = file_->info().frames;
  return all > 0 ? static_cast<double>(frames_) / static_cast<double>(all) : 0.0;
}

Index StreamInput::read_some(Eigen::Ref<Matrix<double>> out) {
  if (stream_) return stream_->read_some(out);
  const Index got = file_->read(out);
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
