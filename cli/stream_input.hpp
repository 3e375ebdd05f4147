#pragma once

#include <memory>
#include <optional>

#include "demix/signal_stream.hpp"
#include "stream_options.hpp"

namespace demix::cli {

/// What a stream reads: frames as they come, or a file of a kind that cannot be streamed (EDF, FLAC, ...),
/// as other commands read it.
class StreamInput {
 public:
  /// `encoding`: nothing = such a file.
  StreamInput(const std::string& name, std::optional<io::Encoding> encoding, const io::ReadOptions& asked);

  const io::SignalInfo& info() const { return info_; }
  /// Of a file that cannot be streamed.
  std::optional<io::Kind> kind() const;
  int fd() const { return stream_ ? stream_->fd() : -1; }
  bool at_hand() const { return !stream_ || stream_->at_hand(); }
  bool ended() const { return stream_ ? stream_->ended() : ended_; }
  std::optional<double> progress() const;
  Index read_some(const Eigen::Ref<Matrix<double>>& out);
  void skip(std::int64_t frames);

 private:
  std::optional<io::StreamReader> stream_;
  std::optional<io::FileRecording> file_;
  std::unique_ptr<Recording::Reading> reading_;
  io::SignalInfo info_;
  std::int64_t frames_ = 0;  // of the file, given out
  bool ended_ = false;
};

}  // namespace demix::cli
