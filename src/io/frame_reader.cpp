#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string>

#include "demix/frame_io.hpp"
#include "io/bytes.hpp"
#include "io/failure.hpp"
#include "io/text_line.hpp"
#include "io/wav.hpp"

/// Bytes in, frames out. The lines of text are in frame_reader_text.cpp.
namespace demix::io {
namespace {

constexpr std::size_t chunk = 1 << 16;          // what a pipe holds
constexpr std::size_t largest_frame = 1 << 24;  // bytes, or characters of a line

Descriptor open_input(const std::string& path, const std::string& name) {
  if (path == "-") {  // told now, before there is an output to be left behind
    const int flags = ::fcntl(STDIN_FILENO, F_GETFL);
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY) throw Error(name + ": cannot read: it is closed");
    return {STDIN_FILENO, false};
  }
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true);
  if (file.get() < 0 && errno == EINTR) throw Interrupted(name + ": interrupted while opening it");
  if (file.get() < 0) throw failure(name, "cannot open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw failure(name, "cannot read");
  if (S_ISDIR(info.st_mode)) throw Error(name + ": is a folder, not a file");
  return file;
}

}  // namespace

Descriptor::~Descriptor() {
  if (owned_ && fd_ >= 0) ::close(fd_);
}

FrameReader::FrameReader(const std::string& name, FrameLayout asked)
    : name_(name == "-" ? "standard input" : name),
      layout_(std::move(asked)),
      file_(open_input(name, name_)),
      buffer_(chunk) {
  struct stat info {};
  is_file_ = ::fstat(fd(), &info) == 0 && S_ISREG(info.st_mode);
  const Index channels = layout_.channels;
  switch (layout_.format) {
    case FrameFormat::f32:
      sample_bytes_ = sizeof(float);
      decode_ = load_real<float>;
      break;
    case FrameFormat::f64:
      sample_bytes_ = sizeof(double);
      decode_ = load_real<double>;
      break;
    case FrameFormat::s16:
      sample_bytes_ = sizeof(std::int16_t);
      decode_ = [](const char* p) { return load_real<std::int16_t>(p) / 0x1p15; };
      break;
    case FrameFormat::s32:
      sample_bytes_ = sizeof(std::int32_t);
      decode_ = [](const char* p) { return load_real<std::int32_t>(p) / 0x1p31; };
      break;
    case FrameFormat::wav:
      read_wav_header();
      break;
    case FrameFormat::csv:
      read_first_line();
      break;
  }
  if (layout_.channels < 1) {
    throw Error(name_ + ": raw " + std::string(frame_format_name(layout_.format)) +
                " does not say how many channels it has; give their number");
  }
  if (channels > 0 && channels != layout_.channels) {
    throw Error(name_ + ": has " + std::to_string(layout_.channels) + " channels where " +
                std::to_string(channels) + " were asked for");
  }
  if (!layout_.names.empty() && static_cast<Index>(layout_.names.size()) != layout_.channels) {
    throw Error(name_ + ": has " + std::to_string(layout_.channels) + " channels, but " +
                std::to_string(layout_.names.size()) + " names were given for them");
  }
  if (layout_.format != FrameFormat::csv) {
    if (layout_.channels > static_cast<Index>(largest_frame / sample_bytes_)) {
      throw Error(name_ + ": " + std::to_string(layout_.channels) + " channels are too many; at most " +
                  std::to_string(largest_frame / sample_bytes_) + " can be read");
    }
    frame_bytes_ = sample_bytes_ * static_cast<std::size_t>(layout_.channels);
    buffer_.resize(chunk + frame_bytes_);
  }
  settle();
}

// One read(2), into what room there is; false if a signal came instead.
bool FrameReader::fill() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  if (end_ == buffer_.size()) {  // only text: the buffer of the others has room for a frame and more
    if (end_ >= largest_frame) {
      throw Error(name_ + ": line " + std::to_string(line_number_) + " is longer than " +
                  std::to_string(largest_frame >> 20) + " MiB; is it text, one frame per line?");
    }
    buffer_.resize(2 * end_);
  }
  for (;;) {
    const ssize_t got = ::read(fd(), buffer_.data() + end_, buffer_.size() - end_);
    if (got >= 0) {
      end_ += static_cast<std::size_t>(got);
      input_over_ = got == 0;
      return true;
    }
    if (errno == EINTR) return false;
    if (errno != EAGAIN && errno != EWOULDBLOCK) throw failure(name_, "cannot read");
    pollfd wait{fd(), POLLIN, 0};  // someone we share it with has made it non-blocking
    if (::poll(&wait, 1, -1) < 0) {
      if (errno == EINTR) return false;
      throw failure(name_, "cannot read");
    }
  }
}

void FrameReader::fill_or_throw() {
  if (!fill()) throw Interrupted(name_ + ": interrupted while waiting for input");
}

// Until so many bytes of the header are in the buffer.
void FrameReader::need(std::size_t bytes) {
  while (end_ - begin_ < bytes) {
    if (input_over_) throw Error(name_ + ": ends within its header; it is cut off or not a WAV file");
    fill_or_throw();
  }
}

void FrameReader::drop(std::uint64_t bytes) {
  while (bytes > 0) {
    need(1);
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, end_ - begin_));
    begin_ += now;
    bytes -= now;
  }
}

void FrameReader::read_wav_header() {
  need(wav::form_bytes);
  const bool large = wav::parse_form(buffer_.data() + begin_, name_);
  drop(wav::form_bytes);
  std::uint64_t large_size = 0;
  for (;;) {
    need(wav::chunk_head_bytes);
    const wav::ChunkHead head = wav::parse_chunk_head(buffer_.data() + begin_);
    drop(wav::chunk_head_bytes);
    if (head.id == "data") {
      left_ = wav::data_bytes(head.size, large_size, bytes_there() >= head.size);
      break;
    }
    if (head.id == "fmt ") {
      read_wav_format(head.size);
    } else {
      if (large && head.id == "ds64" && head.size >= wav::large_sizes_bytes) {
        need(wav::large_sizes_bytes);
        large_size = wav::parse_large_size(buffer_.data() + begin_);
      }
      drop(head.size);
    }
    if (head.odd()) drop(1);
  }
  if (decode_ == nullptr) throw Error(name_ + ": the WAV header has no 'fmt ' chunk before its data");
}

void FrameReader::read_wav_format(std::uint32_t size) {
  const std::size_t known = std::min<std::size_t>(size, wav::format_bytes);
  need(known);
  const std::string body(buffer_.data() + begin_, known);
  drop(size);
  const wav::Format format = wav::parse_format(body, name_);
  if (format.rate > 0 && layout_.rate > 0 && layout_.rate != format.rate) {
    std::string asked;
    append_number(asked, layout_.rate);
    throw Error(name_ + ": has " + std::to_string(format.rate) + " frames per second where " + asked +
                " were asked for");
  }
  decode_ = format.decode;
  sample_bytes_ = format.sample_bytes;
  if (format.rate > 0) layout_.rate = format.rate;
  layout_.channels = format.channels;
}

std::uint64_t FrameReader::whole_frames() const {
  return std::min<std::uint64_t>(end_ - begin_, left_) / frame_bytes_;
}

void FrameReader::take_frames(std::uint64_t frames) {
  begin_ += static_cast<std::size_t>(frames * frame_bytes_);
  left_ -= frames * frame_bytes_;
}

// After anything was read or given out: what is at hand now, and is it all?
void FrameReader::settle() {
  if (layout_.format == FrameFormat::csv) find_line();
  ended_ = left_ == 0 || (input_over_ && begin_ == end_ && !is_cut_off());
}

// The header promised more than there is.
bool FrameReader::is_cut_off() const {
  constexpr std::uint64_t unknown = std::uint64_t{1} << 62;
  return is_file_ && input_over_ && left_ < unknown && left_ > end_ - begin_;
}

bool FrameReader::at_hand() const {
  if (ended_) return false;
  if (layout_.format == FrameFormat::csv) return line_bytes_ > 0;
  return whole_frames() > 0 || input_over_ || left_ < frame_bytes_;
}

Index FrameReader::read(Eigen::Ref<Matrix<double>> out) {
  if (out.rows() != layout_.channels) {
    throw std::invalid_argument("out must have one row for each of " + std::to_string(layout_.channels) +
                                " channels, has " + std::to_string(out.rows()));
  }
  if (out.cols() == 0) return 0;
  while (!ended_ && !at_hand()) {
    if (!fill()) return 0;
    settle();
  }
  if (ended_) return 0;

  Index frames = 0;
  if (layout_.format == FrameFormat::csv) {
    for (; frames < out.cols() && line_bytes_ > 0; ++frames) {
      const std::string wrong = parse_line(out.col(frames).data());
      if (!wrong.empty() && frames == 0) throw Error(wrong);
      if (!wrong.empty()) break;  // the frames before it first
      take_line();
      settle();
    }
    return frames;
  }
  frames =
      static_cast<Index>(std::min<std::uint64_t>(whole_frames(), static_cast<std::uint64_t>(out.cols())));
  if (frames == 0 && begin_ == end_ && is_cut_off()) {
    throw Error(name_ + ": ends " + std::to_string(left_) + " bytes before its header says; it is cut off");
  }
  if (frames == 0) {
    const std::uint64_t over = std::min<std::uint64_t>(left_, input_over_ ? end_ - begin_ : frame_bytes_);
    throw Error(name_ + ": ends with " + std::to_string(over) + " bytes of a frame of " +
                std::to_string(frame_bytes_) + "; it is cut off, or has another number of channels");
  }
  const char* p = buffer_.data() + begin_;
  for (Index t = 0; t < frames; ++t) {
    for (Index i = 0; i < layout_.channels; ++i, p += sample_bytes_) out(i, t) = decode_(p);
  }
  take_frames(static_cast<std::uint64_t>(frames));
  settle();
  return frames;
}

// In a file, up to its end; elsewhere only what has been read.
std::uint64_t FrameReader::bytes_there() const {
  struct stat info {};
  const off_t at = ::lseek(fd(), 0, SEEK_CUR);
  const bool known = is_file_ && at >= 0 && ::fstat(fd(), &info) == 0 && info.st_size > at;
  return end_ - begin_ + (known ? static_cast<std::uint64_t>(info.st_size - at) : 0);
}

// Only where the file surely has the frames; elsewhere reading finds out.
bool FrameReader::seek_over(std::uint64_t frames) {
  if (frames > std::min(bytes_there(), left_) / frame_bytes_) return false;
  const std::size_t buffered = end_ - begin_;  // less than a frame
  if (::lseek(fd(), static_cast<off_t>(frames * frame_bytes_ - buffered), SEEK_CUR) < 0) return false;
  begin_ = end_;
  left_ -= frames * frame_bytes_;
  return true;
}

void FrameReader::skip(std::int64_t frames) {
  if (frames < 0) throw std::invalid_argument("frames to skip must be >= 0, got " + std::to_string(frames));
  auto ahead = static_cast<std::uint64_t>(frames);
  while (ahead > 0) {
    if (layout_.format == FrameFormat::csv) {
      for (; ahead > 0 && line_bytes_ > 0; --ahead) {
        take_line();
        find_line();
      }
    } else {
      const std::uint64_t now = std::min(ahead, whole_frames());
      take_frames(now);
      ahead -= now;
      if (ahead > 0 && seek_over(ahead)) ahead = 0;
    }
    settle();
    if (ahead == 0) return;
    if (ended_ || at_hand()) {  // at hand: not a whole frame, or it would have been taken
      throw Error(name_ + ": ends after " + std::to_string(static_cast<std::uint64_t>(frames) - ahead) +
                  " of the " + std::to_string(frames) + " frames to skip; is it the input of before?");
    }
    fill_or_throw();
    settle();
  }
}

}  // namespace demix::io
