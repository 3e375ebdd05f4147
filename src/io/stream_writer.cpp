#include <algorithm>
#include <cmath>
#include <exception>
#include <limits>
#include <string>

#include "demix/signal_stream.hpp"
#include "io/byte_sink.hpp"
#include "io/bytes.hpp"
#include "io/frame_bytes.hpp"
#include "io/text_line.hpp"
#include "io/wav.hpp"

namespace demix::io {
namespace {

constexpr std::size_t write_chunk = 1 << 16;

bool is_text(Encoding encoding) { return encoding == Encoding::csv || encoding == Encoding::tsv; }
bool is_whole(Encoding encoding) { return encoding == Encoding::s16 || encoding == Encoding::s32; }
char delimiter_of(Encoding encoding) { return encoding == Encoding::tsv ? '\t' : ','; }

}  // namespace

std::size_t bytes_of_frame(Encoding encoding, Index channels) {
  const std::size_t number = is_text(encoding)           ? 0
                             : encoding == Encoding::f64 ? 8
                             : encoding == Encoding::s16 ? 2
                                                         : 4;
  return static_cast<std::size_t>(channels) * number;
}

namespace {

std::string header_of(Encoding encoding, const SignalInfo& info, const std::string& name) {
  if (info.channels < 1) {
    throw std::invalid_argument("info.channels must be at least 1, got " + std::to_string(info.channels));
  }
  if (!info.names.empty() && static_cast<Index>(info.names.size()) != info.channels) {
    throw std::invalid_argument("info.names must be one per channel or none, got " +
                                std::to_string(info.names.size()) + " for " + std::to_string(info.channels));
  }
  if (is_text(encoding)) return names_line(info.names, delimiter_of(encoding));
  if (encoding != Encoding::wav) return {};
  wav::check_info(info, name == "-" ? "standard output" : name);
  return wav::header(info, wav::unknown_size);
}

template <typename Integer>
void append_integer(std::string& buffer, double value) {
  constexpr double full = -static_cast<double>(std::numeric_limits<Integer>::min());
  const double scaled = std::isnan(value) ? 0 : std::clamp(std::round(value * full), -full, full - 1);
  store(buffer, static_cast<Integer>(scaled));
}

void append_single(std::string& buffer, double value) {
  constexpr double largest = std::numeric_limits<float>::max();
  store(buffer, static_cast<float>(std::clamp(value, -largest, largest)));  // NaN stays NaN
}

void append_frame(std::string& buffer, Encoding encoding, const Eigen::Ref<const Vector<double>>& frame) {
  if (is_text(encoding)) {
    for (Index i = 0; i < frame.size(); ++i) {
      append_number(buffer, frame(i));
      buffer.push_back(i + 1 < frame.size() ? delimiter_of(encoding) : '\n');
    }
  } else if (encoding == Encoding::f64) {
    buffer.append(reinterpret_cast<const char*>(frame.data()),
                  static_cast<std::size_t>(frame.size()) * sizeof(double));
  } else if (encoding == Encoding::s16) {
    for (const double value : frame) append_integer<std::int16_t>(buffer, value);
  } else if (encoding == Encoding::s32) {
    for (const double value : frame) append_integer<std::int32_t>(buffer, value);
  } else {
    for (const double value : frame) append_single(buffer, value);
  }
}

}  // namespace

std::string frames_as_bytes(Encoding encoding, const Frames<double>& frames) {
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(frames.cols()) * bytes_of_frame(encoding, frames.rows()));
  for (Index t = 0; t < frames.cols(); ++t) append_frame(bytes, encoding, frames.col(t));
  return bytes;
}

StreamWriter::StreamWriter(const std::string& name, Encoding encoding, SignalInfo info)
    : encoding_(encoding),
      info_(std::move(info)),
      header_(header_of(encoding, info_, name)),  // before an existing file is emptied: it may throw
      bytes_(std::make_unique<ByteSink>(name, bytes_of_frame(encoding, info_.channels))) {
  bytes_->buffer = header_;
  bytes_->flush();  // so that bytes() is never less than the header, and resume() need not write it
}

StreamWriter::StreamWriter(const std::string& name, Encoding encoding, SignalInfo info,
                           const Written& written)
    : encoding_(encoding),
      info_(std::move(info)),
      header_(header_of(encoding, info_, name)),
      bytes_(std::make_unique<ByteSink>(name, bytes_of_frame(encoding, info_.channels), written.bytes,
                                        written.unwritten)),
      frames_(written.frames) {
  if (bytes_->is_standard_output()) return;
  const std::uint64_t size = bytes_->file_size();
  if (size < written.bytes) {
    throw Error(bytes_->name() + ": has " + std::to_string(size) + " bytes where " +
                std::to_string(written.bytes) + " had been written; the output does not belong to the state");
  }
  std::string found = bytes_->read_back(0, header_.size());
  found.resize(header_.size());
  if (encoding_ == Encoding::wav) wav::forget_lengths(found);  // an earlier finish() may have put them in
  if (written.bytes < header_.size() || found != header_) {
    throw Error(bytes_->name() +
                ": begins otherwise than a stream of this layout; the output does not belong to the state");
  }
  if (frames_ >= 0) require_whole(written);
  if (encoding_ == Encoding::wav) bytes_->patch(header_);  // the lengths are wrong from now on
  bytes_->cut_off();
}

StreamWriter StreamWriter::resume(const std::string& name, Encoding encoding, SignalInfo info,
                                  const Written& written) {
  return {name, encoding, std::move(info), written};
}

StreamWriter::~StreamWriter() = default;
StreamWriter::StreamWriter(StreamWriter&&) noexcept = default;
StreamWriter& StreamWriter::operator=(StreamWriter&&) noexcept = default;

// The bytes hold as many frames as they should. Lines of text have to be counted.
void StreamWriter::require_whole(const Written& written) const {
  std::uint64_t frames = 0;
  if (!is_text(encoding_)) {
    const std::uint64_t bytes = written.bytes - header_.size() + written.unwritten.size();
    const std::size_t frame_bytes = bytes_of_frame(encoding_, info_.channels);
    frames = bytes % frame_bytes == 0 ? bytes / frame_bytes : std::uint64_t(-1);
  } else {
    for (std::uint64_t at = header_.size(); at < written.bytes;) {
      const std::string part = bytes_->read_back(
          at, static_cast<std::size_t>(std::min<std::uint64_t>(write_chunk, written.bytes - at)));
      if (part.empty()) throw Error(bytes_->name() + ": has become shorter while it was read");
      frames += static_cast<std::uint64_t>(std::ranges::count(part, '\n'));
      at += part.size();
    }
    frames += static_cast<std::uint64_t>(std::ranges::count(written.unwritten, '\n'));
  }
  if (frames == static_cast<std::uint64_t>(written.frames)) return;
  throw Error(bytes_->name() + ": its first " + std::to_string(written.bytes) + " bytes are not the " +
              std::to_string(written.frames) +
              " frames that had been written; the output does not belong to the state");
}

void StreamWriter::interrupt_by(int descriptor) { bytes_->interrupt_by(descriptor); }

void StreamWriter::write(const Frames<double>& Y) {
  if (Y.rows() != info_.channels) {
    throw std::invalid_argument("Y must have one row for each of " + std::to_string(info_.channels) +
                                " channels, has " + std::to_string(Y.rows()));
  }
  std::exception_ptr failed;  // the rest is buffered all the same: no frame is lost
  for (Index t = 0; t < Y.cols(); ++t) {
    append_frame(bytes_->buffer, encoding_, Y.col(t));
    if (is_whole(encoding_)) clipped_ += (Y.col(t).array().abs() > 1).count();
    if (frames_ >= 0) ++frames_;
    if (bytes_->buffer.size() < write_chunk || failed) continue;
    try {
      flush();
    } catch (const Error&) {
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

void StreamWriter::flush() { bytes_->flush(); }
void StreamWriter::sync() { bytes_->sync(); }

void StreamWriter::finish() {
  flush();
  if (encoding_ != Encoding::wav || !bytes_->can_patch() || bytes() >= wav::unknown_size) return;
  bytes_->patch(wav::header(info_, static_cast<std::uint32_t>(bytes() - header_.size())));
}

StreamWriter::Written StreamWriter::written() const { return {bytes(), frames_, bytes_->buffer}; }
std::uint64_t StreamWriter::bytes() const { return bytes_->bytes(); }

}  // namespace demix::io
