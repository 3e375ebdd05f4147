#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <string>

#include "demix/frame_io.hpp"

namespace demix::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

constexpr std::size_t chunk = 1 << 16;              // what a pipe holds
constexpr std::size_t largest_frame = 1 << 24;      // bytes, or characters of a line
constexpr std::uint32_t unknown_size = 0xffffffff;  // in a WAV header

Error failure(const std::string& name, const char* what) {
  return Error(name + ": " + what + ": " + std::strerror(errno));
}

template <typename T>
T load(const char* p) {
  T value;
  std::memcpy(&value, p, sizeof value);
  return value;
}

template <typename T>
double real(const char* p) {
  return static_cast<double>(load<T>(p));
}

// Full scale is 1.
double pcm8(const char* p) { return (load<std::uint8_t>(p) - 128) / 128.0; }
double pcm16(const char* p) { return load<std::int16_t>(p) / 32768.0; }
double pcm24(const char* p) {
  return (load<std::uint16_t>(p) + 65536 * load<std::int8_t>(p + 2)) / 8388608.0;
}
double pcm32(const char* p) { return load<std::int32_t>(p) / 2147483648.0; }

// Text follows the rules of parse_text().

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

char find_delimiter(std::string_view line) {
  for (const char c : {',', ';', '\t'}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ' ';
}

void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  if (delimiter == ' ') {
    while (!(line = trim(line)).empty()) {
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    return;
  }
  for (;;) {
    const std::size_t end = line.find(delimiter);
    fields.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

bool parse_number(std::string_view field, double& value) {
  if (!field.empty() && field.front() == '+') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(field).c_str(), nullptr);  // 0 or Inf
  return error != std::errc::invalid_argument && end == field.data() + field.size();
}

Descriptor open_input(const std::string& path, const std::string& name) {
  if (path == "-") return {STDIN_FILENO, false};
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
  const Index channels = layout_.channels;
  switch (layout_.format) {
    case FrameFormat::f32:
      sample_bytes_ = sizeof(float);
      decode_ = real<float>;
      break;
    case FrameFormat::f64:
      sample_bytes_ = sizeof(double);
      decode_ = real<double>;
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
  need(12);
  const std::string form(buffer_.data() + begin_, 4);
  const bool large = form == "RF64" || form == "BW64";  // the size of the data is in a chunk of its own
  if (form == "RIFX") throw Error(name_ + ": is a big-endian WAV (RIFX); convert it to RIFF");
  if ((form != "RIFF" && !large) || std::string_view(buffer_.data() + begin_ + 8, 4) != "WAVE")
    throw Error(name_ + ": is not a WAV file; its first bytes are not RIFF ... WAVE");
  drop(12);
  std::uint64_t large_size = 0;
  for (;;) {
    need(8);
    const std::string id(buffer_.data() + begin_, 4);
    const auto size = load<std::uint32_t>(buffer_.data() + begin_ + 4);
    drop(8);
    if (id == "data") {
      // Who streams does not know the size. Besides 0 and all ones, just below 2 GiB is common in pipes.
      const bool placeholder = size == 0 || size == unknown_size ||
                               (size >= 0x7fff0000 && size <= 0x80000000 && ::lseek(fd(), 0, SEEK_CUR) < 0);
      if (!placeholder) left_ = size;
      if (large && size == unknown_size && large_size > 0) left_ = large_size;
      break;
    }
    if (id == "fmt ") {
      read_wav_format(size);
    } else if (id == "ds64" && size >= 16) {
      need(16);
      large_size = load<std::uint64_t>(buffer_.data() + begin_ + 8);
      drop(size);
    } else {
      drop(size);
    }
    drop(size % 2);  // chunks begin at even places
  }
  if (decode_ == nullptr) throw Error(name_ + ": the WAV header has no 'fmt ' chunk before its data");
}

void FrameReader::read_wav_format(std::uint32_t size) {
  constexpr std::uint16_t pcm = 1;
  constexpr std::uint16_t ieee_float = 3;
  constexpr std::uint16_t extensible = 0xfffe;
  constexpr std::string_view extension("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);
  const std::size_t known = std::min<std::uint32_t>(size, 40);
  need(known);
  const char* p = buffer_.data() + begin_;
  if (size < 16) throw Error(name_ + ": the 'fmt ' chunk of the WAV header is too short");
  auto tag = load<std::uint16_t>(p);
  const auto channels = load<std::uint16_t>(p + 2);
  const auto rate = load<std::uint32_t>(p + 4);
  const auto block = load<std::uint16_t>(p + 12);
  const auto bits = load<std::uint16_t>(p + 14);
  if (tag == extensible && known == 40 && std::string_view(p + 26, 14) == extension)
    tag = load<std::uint16_t>(p + 24);
  drop(size);

  decode_ = tag == pcm && bits == 8           ? pcm8
            : tag == pcm && bits == 16        ? pcm16
            : tag == pcm && bits == 24        ? pcm24
            : tag == pcm && bits == 32        ? pcm32
            : tag == ieee_float && bits == 32 ? real<float>
            : tag == ieee_float && bits == 64 ? real<double>
                                              : nullptr;
  if (decode_ == nullptr) {
    throw Error(name_ + ": WAV format " + std::to_string(tag) + " with " + std::to_string(bits) +
                " bits is not supported; use PCM of 8, 16, 24 or 32 bits or float of 32 or 64");
  }
  if (channels == 0) throw Error(name_ + ": the WAV header says there are no channels; it is damaged");
  sample_bytes_ = bits / 8;
  if (block != channels * sample_bytes_) {
    throw Error(name_ + ": the WAV header says " + std::to_string(block) + " bytes per frame, but " +
                std::to_string(channels) + " channels of " + std::to_string(bits) + " bits; it is damaged");
  }
  if (rate > 0 && layout_.rate > 0 && layout_.rate != rate) {
    std::array<char, 32> asked{};
    std::to_chars(asked.data(), asked.data() + asked.size(), layout_.rate);
    throw Error(name_ + ": has " + std::to_string(rate) + " frames per second where " + asked.data() +
                " were asked for");
  }
  if (rate > 0) layout_.rate = rate;
  layout_.channels = channels;
}

void FrameReader::read_first_line() {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  const auto start = [&] { return std::string_view(buffer_.data(), std::min<std::size_t>(end_, 3)); };
  while (!input_over_ && start().size() < 3 && byte_order_mark.starts_with(start())) fill_or_throw();
  if (start() == byte_order_mark) begin_ = 3;

  for (find_line(); line_bytes_ == 0; find_line()) {
    if (input_over_) throw Error(name_ + ": there are no numbers in it");
    fill_or_throw();
  }
  const std::string_view line = trim({buffer_.data() + begin_, line_bytes_});
  delimiter_ = find_delimiter(line);
  split(line, delimiter_, fields_);
  layout_.channels = static_cast<Index>(fields_.size());
  double ignored = 0;
  for (const std::string_view field : fields_) {
    if (parse_number(field, ignored)) return;  // no names: it is the first frame, still to be given out
  }
  std::string text(line);
  for (std::size_t i = 0; i < fields_.size(); ++i) text.append(1, i == 0 ? '\n' : delimiter_).append("0");
  layout_.names = parse_text(text, name_).names;
  take_line();
}

// Drops lines that do not count and finds the end of the first that does, if it is there.
void FrameReader::find_line() {
  line_bytes_ = 0;
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t end = rest.find('\n', searched_);
    if (end == std::string_view::npos && (!input_over_ || rest.empty())) {
      searched_ = rest.size();
      return;
    }
    const std::size_t bytes = std::min(end, rest.size() - 1) + 1;
    const std::string_view line = trim(rest.substr(0, bytes));
    if (!line.empty() && line.front() != '#') {
      line_bytes_ = bytes;
      searched_ = bytes - 1;
      return;
    }
    line_bytes_ = bytes;
    take_line();
  }
}

void FrameReader::take_line() {
  begin_ += std::exchange(line_bytes_, 0);
  searched_ = 0;
  ++line_number_;
}

// What is wrong with the next line, or nothing and its numbers.
std::string FrameReader::parse_line(double* frame) {
  split(trim({buffer_.data() + begin_, line_bytes_}), delimiter_, fields_);
  const auto channels = static_cast<std::size_t>(layout_.channels);
  const auto place = [&] { return name_ + ": line " + std::to_string(line_number_); };
  if (fields_.size() != channels) {
    return place() + " has " + std::to_string(fields_.size()) + " values where " + std::to_string(channels) +
           " were expected; every row must be as long as the first";
  }
  for (std::size_t k = 0; k < channels; ++k) {
    if (!parse_number(fields_[k], frame[k])) {
      return place() + ", column " + std::to_string(k + 1) + ": '" + std::string(fields_[k].substr(0, 40)) +
             "' is not a number";
    }
  }
  return {};
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
  ended_ = left_ == 0 || (input_over_ && begin_ == end_);
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

// Only where the file surely has the frames; elsewhere reading finds out.
bool FrameReader::seek_over(std::uint64_t frames) {
  struct stat info {};
  const off_t at = ::lseek(fd(), 0, SEEK_CUR);
  if (at < 0 || ::fstat(fd(), &info) != 0 || !S_ISREG(info.st_mode) || info.st_size < at) return false;
  const std::size_t buffered = end_ - begin_;  // less than a frame
  const std::uint64_t there = static_cast<std::uint64_t>(info.st_size - at) + buffered;
  if (frames > std::min(there, left_) / frame_bytes_) return false;
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
