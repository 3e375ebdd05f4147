#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <string>

#include "demix/frame_io.hpp"

namespace demix::io {
namespace {

constexpr std::size_t chunk = 1 << 16;
constexpr std::array<std::string_view, 4> format_names = {"f32", "f64", "wav", "csv"};

Error failure(const std::string& name, const char* what) {
  return Error(name + ": " + what + ": " + std::strerror(errno));
}

template <typename T>
void put(std::string& bytes, T value) {
  char raw[sizeof value];
  std::memcpy(raw, &value, sizeof value);
  bytes.append(raw, sizeof value);
}

void put_float(std::string& bytes, double value) {
  constexpr double largest = std::numeric_limits<float>::max();
  put(bytes, static_cast<float>(std::clamp(value, -largest, largest)));  // NaN stays NaN
}

constexpr std::uint32_t unknown_size = 0xffffffff;
constexpr std::size_t wav_header_bytes = 58;
constexpr std::array<std::size_t, 3> wav_lengths_at = {4, 46, 54};

// Formats other than PCM have an extension size (none here) in 'fmt ' and the number of frames in 'fact'.
std::string wav_header(const FrameLayout& layout, std::uint32_t data_bytes) {
  constexpr std::uint16_t ieee_float = 3;
  const auto frame_bytes = static_cast<std::uint32_t>(layout.channels) * 4;
  const bool known = data_bytes != unknown_size;
  const auto rate = static_cast<std::uint32_t>(layout.rate);
  std::string h = "RIFF";
  put(h, known ? data_bytes + static_cast<std::uint32_t>(wav_header_bytes - 8) : unknown_size);
  h += "WAVEfmt ";
  put<std::uint32_t>(h, 18);
  put(h, ieee_float);
  put(h, static_cast<std::uint16_t>(layout.channels));
  put(h, rate);
  put(h, static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{rate} * frame_bytes, 0xffffffff)));
  put(h, static_cast<std::uint16_t>(frame_bytes));
  put<std::uint16_t>(h, 32);
  put<std::uint16_t>(h, 0);
  h += "fact";
  put<std::uint32_t>(h, 4);
  put(h, known ? data_bytes / frame_bytes : unknown_size);
  h += "data";
  put(h, data_bytes);
  return h;
}

bool is_number(std::string_view s) {
  double ignored = 0;
  if (!s.empty() && s.front() == '+') s.remove_prefix(1);
  const auto [end, error] = std::from_chars(s.data(), s.data() + s.size(), ignored);
  return error != std::errc::invalid_argument && end == s.data() + s.size();
}

// A line that reads back as these names: not as numbers, a comment, or more of them.
std::string names_line(const std::vector<std::string>& names) {
  std::string line;
  for (std::string name : names) {
    for (char& c : name) {
      if (c == ',' || c == '\n' || c == '\r') c = ' ';
      if (names.size() == 1 && (c == ' ' || c == ';' || c == '\t')) c = '_';  // without a comma they separate
    }
    const bool quoted = name.empty() || is_number(name) ||
                        std::string_view("#\"' \t").find(name.front()) != std::string_view::npos ||
                        name.back() == ' ' || name.back() == '\t';
    if (!line.empty()) line += ',';
    line += quoted ? '"' + name + '"' : name;
  }
  if (!line.empty()) line += '\n';
  return line;
}

std::string header_of(const FrameLayout& layout, const std::string& name) {
  if (layout.channels < 1) {
    throw std::invalid_argument("layout.channels must be at least 1, got " + std::to_string(layout.channels));
  }
  if (!layout.names.empty() && static_cast<Index>(layout.names.size()) != layout.channels) {
    throw std::invalid_argument("layout.names must be one per channel or none, got " +
                                std::to_string(layout.names.size()) + " for " +
                                std::to_string(layout.channels));
  }
  if (layout.format == FrameFormat::csv) return names_line(layout.names);
  if (layout.format != FrameFormat::wav) return {};
  if (!(layout.rate >= 1 && layout.rate < unknown_size) || layout.rate != std::floor(layout.rate)) {
    throw Error(name + ": a WAV file needs a whole number of frames per second; give the rate, " +
                "or write another format");
  }
  if (layout.channels > 0xffff / 4) {
    throw Error(name + ": a WAV file holds at most 16383 channels, not " + std::to_string(layout.channels) +
                "; write another format");
  }
  return wav_header(layout, unknown_size);
}

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

Descriptor open_output(const std::string& path, const std::string& name, int how) {
  if (path == "-") return {STDOUT_FILENO, false};
  Descriptor file(::open(path.c_str(), how | O_CLOEXEC, 0666), true);
  if (file.get() < 0 && errno == EINTR) throw Interrupted(name + ": interrupted while opening it");
  if (file.get() < 0) throw failure(name, "cannot write");
  return file;
}

}  // namespace

std::string_view frame_format_name(FrameFormat format) {
  return format_names[static_cast<std::size_t>(format)];
}

FrameFormat frame_format_named(std::string_view name) {
  const auto at = std::find(format_names.begin(), format_names.end(), name);
  if (at == format_names.end()) {
    throw std::invalid_argument("no frame format '" + std::string(name) + "'; use f32, f64, wav or csv");
  }
  return static_cast<FrameFormat>(at - format_names.begin());
}

std::optional<FrameFormat> frame_format_of(const std::filesystem::path& path) {
  std::string ext = path.extension().string();
  std::transform(ext.begin(), ext.end(), ext.begin(), [](unsigned char c) { return std::tolower(c); });
  for (const std::string_view name : format_names) {
    if (ext.size() == 4 && std::string_view(ext).substr(1) == name) return frame_format_named(name);
  }
  return {};
}

FrameWriter::FrameWriter(const std::string& name, FrameLayout layout)
    : name_(output_name(name)),
      layout_(std::move(layout)),
      header_(header_of(layout_, name_)),  // before an existing file is emptied: it may throw
      file_(open_output(name, name_, O_WRONLY | O_CREAT | O_TRUNC)) {
  struct stat info {};
  const bool appends = (::fcntl(file_.get(), F_GETFL) & O_APPEND) != 0;  // then pwrite(2) appends, too
  if (::fstat(file_.get(), &info) == 0 && S_ISREG(info.st_mode) && !appends)
    header_at_ = ::lseek(file_.get(), 0, SEEK_CUR);
  buffer_ = header_;
  flush();  // so that bytes() is never less than the header, and resume() need not write it
}

FrameWriter FrameWriter::resume(const std::string& name, FrameLayout layout, std::uint64_t bytes) {
  return {name, std::move(layout), bytes};
}

FrameWriter::FrameWriter(const std::string& name, FrameLayout layout, std::uint64_t bytes)
    : name_(output_name(name)),
      layout_(std::move(layout)),
      header_(header_of(layout_, name_)),
      file_(open_output(name, name_, O_RDWR)),
      bytes_(bytes) {
  if (name == "-") return;
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) throw failure(name_, "cannot write");
  if (!S_ISREG(info.st_mode)) throw Error(name_ + ": cannot go on with it; it is not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) < bytes) {
    throw Error(name_ + ": has " + std::to_string(info.st_size) + " bytes where " + std::to_string(bytes) +
                " had been written; the output does not belong to the state");
  }
  std::string found(header_.size(), '\0');
  const ssize_t got = ::pread(file_.get(), found.data(), found.size(), 0);
  if (got < 0) throw failure(name_, "cannot read");
  if (layout_.format == FrameFormat::wav) {  // an earlier finish() may have put the lengths in
    for (const std::size_t at : wav_lengths_at) found.replace(at, 4, 4, '\xff');
  }
  if (bytes < header_.size() || found != header_) {
    throw Error(name_ +
                ": begins otherwise than a stream of this layout; the output does not belong to the state");
  }
  header_at_ = 0;
  if (layout_.format == FrameFormat::wav) patch(header_);  // the lengths are wrong from now on
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes)) != 0 || ::lseek(file_.get(), 0, SEEK_END) < 0)
    throw failure(name_, "cannot write");
}

void FrameWriter::write(const Frames<double>& Y) {
  if (Y.rows() != layout_.channels) {
    throw std::invalid_argument("Y must have one row for each of " + std::to_string(layout_.channels) +
                                " channels, has " + std::to_string(Y.rows()));
  }
  std::array<char, 32> digits{};
  for (Index t = 0; t < Y.cols(); ++t) {
    for (Index i = 0; i < Y.rows(); ++i) {
      switch (layout_.format) {
        case FrameFormat::f32:
        case FrameFormat::wav:
          put_float(buffer_, Y(i, t));
          break;
        case FrameFormat::f64:
          put(buffer_, Y(i, t));
          break;
        case FrameFormat::csv:
          const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), Y(i, t)).ptr;
          buffer_.append(digits.data(), end).push_back(i + 1 < Y.rows() ? ',' : '\n');
          break;
      }
    }
    if (buffer_.size() >= chunk) flush();
  }
}

void FrameWriter::flush() {
  std::size_t done = 0;
  while (done < buffer_.size()) {
    const ssize_t put = ::write(file_.get(), buffer_.data() + done, buffer_.size() - done);
    if (put >= 0) {
      done += static_cast<std::size_t>(put);
      bytes_ += static_cast<std::uint64_t>(put);
    } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
      pollfd wait{file_.get(), POLLOUT, 0};  // someone we share it with has made it non-blocking
      ::poll(&wait, 1, -1);
    } else if (errno != EINTR) {
      buffer_.erase(0, done);  // bytes() has counted it
      if (errno == EPIPE) throw ClosedPipe(name_ + ": nobody reads it any more");
      throw failure(name_, "cannot write");
    }
  }
  buffer_.clear();
}

void FrameWriter::sync() {
  flush();
  while (::fdatasync(file_.get()) != 0) {
    if (errno == EINVAL || errno == EROFS) return;  // a pipe or a terminal
    if (errno != EINTR) throw failure(name_, "cannot write");
  }
}

void FrameWriter::finish() {
  flush();
  if (layout_.format != FrameFormat::wav || header_at_ < 0 || bytes_ >= unknown_size) return;
  patch(wav_header(layout_, static_cast<std::uint32_t>(bytes_ - header_.size())));
}

void FrameWriter::patch(const std::string& header) {
  ssize_t put = -1;
  do {
    put = ::pwrite(file_.get(), header.data(), header.size(), header_at_);
  } while (put < 0 && errno == EINTR);
  if (put != static_cast<ssize_t>(header.size())) throw failure(name_, "cannot write");
}

}  // namespace demix::io
