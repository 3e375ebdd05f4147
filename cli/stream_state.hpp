#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "demix/signal_stream.hpp"

/// What `stream --state` keeps: how far it has come with its files, and the separator.
namespace demix::cli {

struct StreamState {
  std::int64_t read = 0;     ///< frames, refused ones too
  std::string format;        ///< of the output
  std::vector<Index> picks;  ///< the channels it learns from
  io::StreamWriter::Written written;
  std::string separator;  ///< StreamSeparator::state()
};

/// In one piece: a line of its kind and version, one with a checksum of all that follows, one of JSON, and
/// the bytes of `written.unwritten` and `separator`.
std::string to_bytes(const StreamState& state);
/// Throws std::invalid_argument if it is none, is damaged or of another version.
StreamState parse_stream_state(std::string_view bytes);

/// Nothing if `file` is "" or not there. Throws Failure.
std::optional<StreamState> load_stream_state(const std::string& file);

/// Keeps others from using a state at the same time: a file beside it, STATE.lock, locked for as long as this
/// lives. Throws Failure if another process holds it, and says which. Of "" nothing is locked.
class StateLock {
 public:
  explicit StateLock(const std::string& state);
  ~StateLock();
  StateLock(const StateLock&) = delete;
  StateLock& operator=(const StateLock&) = delete;

  static std::filesystem::path file_for(const std::string& state);  ///< "" for ""

 private:
  std::filesystem::path file_;
  int descriptor_ = -1;
};

}  // namespace demix::cli
