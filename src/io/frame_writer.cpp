#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <climits>
#include <cmath>
#include <cstring>
#include <exception>
#include <limits>
#include <string>

#include "demix/frame_io.hpp"
#include "io/bytes.hpp"
#include "io/failure.hpp"
#include "io/text_line.hpp"
#include "io/wav.hpp"

namespace demix::io {
namespace {

constexpr std::size_t write_chunk = 1 << 16;
constexpr std::array<std::string_view, 6> format_names = {"f32", "f64", "s16", "s32", "wav", "csv"};

constexpr double largest_single = std::numeric_limits<float>::max();

template <typename Integer>
void append_integer(std::string& buffer, double value) {
  constexpr double full = -static_cast<double>(std::numeric_limits<Integer>::min());
  const double scaled = std::isnan(value) ? 0 : std::clamp(std::round(value * full), -full, full - 1);
  const auto sample = static_cast<Integer>(scaled);
  buffer.append(reinterpret_cast<const char*>(&sample), sizeof sample);
}

char separator(const FrameLayout& layout) { return layout.delimiter != 0 ? layout.delimiter : ','; }

std::string header_of(const FrameLayout& layout, const std::string& name) {
  if (layout.channels < 1) {
    throw std::invalid_argument("layout.channels must be at least 1, got " + std::to_string(layout.channels));
  }
  if (!layout.names.empty() && static_cast<Index>(layout.names.size()) != layout.channels) {
    throw std::invalid_argument("layout.names must be one per channel or none, got " +
                                std::to_string(layout.names.size()) + " for " +
                                std::to_string(layout.channels));
  }
  if (layout.format == FrameFormat::csv) return names_line(layout.names, separator(layout));
  if (layout.format != FrameFormat::wav) return {};
  wav::check_layout(layout, name);
  return wav::header(layout, wav::unknown_size);
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
    throw std::invalid_argument("no frame format '" + std::string(name) +
                                "'; use f32, f64, s16, s32, wav or csv");
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

FrameWriter FrameWriter::resume(const std::string& name, FrameLayout layout, const Written& written) {
  return {name, std::move(layout), written};
}

FrameWriter::FrameWriter(const std::string& name, FrameLayout layout, const Written& written)
    : name_(output_name(name)),
      layout_(std::move(layout)),
      header_(header_of(layout_, name_)),
      file_(open_output(name, name_, O_RDWR)),
      buffer_(written.unwritten),
      bytes_(written.bytes),
      frames_(written.frames) {
  if (name == "-") return;
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) throw failure(name_, "cannot write");
  if (!S_ISREG(info.st_mode)) throw Error(name_ + ": cannot go on with it; it is not a regular file");
  if (static_cast<std::uint64_t>(info.st_size) < bytes_) {
    throw Error(name_ + ": has " + std::to_string(info.st_size) + " bytes where " + std::to_string(bytes_) +
                " had been written; the output does not belong to the state");
  }
  std::string found(header_.size(), '\0');
  const ssize_t got = ::pread(file_.get(), found.data(), found.size(), 0);
  if (got < 0) throw failure(name_, "cannot read");
  if (layout_.format == FrameFormat::wav)
    wav::forget_lengths(found);  // an earlier finish() may have put them in
  if (bytes_ < header_.size() || found != header_) {
    throw Error(name_ +
                ": begins otherwise than a stream of this layout; the output does not belong to the state");
  }
  if (frames_ >= 0) require_whole(written);
  header_at_ = 0;
  if (layout_.format == FrameFormat::wav) patch(header_);  // the lengths are wrong from now on
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0 || ::lseek(file_.get(), 0, SEEK_END) < 0)
    throw failure(name_, "cannot write");
}

std::size_t FrameWriter::frame_bytes() const {
  const std::size_t sample = layout_.format == FrameFormat::f64   ? 8
                             : layout_.format == FrameFormat::s16 ? 2
                                                                  : 4;
  return static_cast<std::size_t>(layout_.channels) * sample;
}

// The bytes hold as many frames as they should. Lines of text have to be counted.
void FrameWriter::require_whole(const Written& written) const {
  std::uint64_t frames = 0;
  if (layout_.format != FrameFormat::csv) {
    const std::uint64_t bytes = written.bytes - header_.size() + written.unwritten.size();
    frames = bytes % frame_bytes() == 0 ? bytes / frame_bytes() : std::uint64_t(-1);
  } else {
    std::string part(write_chunk, '\0');
    for (std::uint64_t at = header_.size(); at < written.bytes;) {
      const auto most = static_cast<std::size_t>(std::min<std::uint64_t>(write_chunk, written.bytes - at));
      const ssize_t got = ::pread(file_.get(), part.data(), most, static_cast<off_t>(at));
      if (got <= 0) throw failure(name_, "cannot read");
      frames += static_cast<std::uint64_t>(std::count(part.begin(), part.begin() + got, '\n'));
      at += static_cast<std::uint64_t>(got);
    }
    frames += static_cast<std::uint64_t>(std::ranges::count(written.unwritten, '\n'));
  }
  if (frames == static_cast<std::uint64_t>(written.frames)) return;
  throw Error(name_ + ": its first " + std::to_string(written.bytes) + " bytes are not the " +
              std::to_string(written.frames) +
              " frames that had been written; the output does not belong to the state");
}

void FrameWriter::write(const Frames<double>& Y) {
  if (Y.rows() != layout_.channels) {
    throw std::invalid_argument("Y must have one row for each of " + std::to_string(layout_.channels) +
                                " channels, has " + std::to_string(Y.rows()));
  }
  std::exception_ptr failed;  // the rest is buffered all the same: no frame is lost
  for (Index t = 0; t < Y.cols(); ++t) {
    const auto frame = Y.col(t);
    if (layout_.format == FrameFormat::csv) {
      for (Index i = 0; i < Y.rows(); ++i) {
        append_number(buffer_, frame(i));
        buffer_.push_back(i + 1 < Y.rows() ? separator(layout_) : '\n');
      }
    } else if (layout_.format == FrameFormat::f64) {
      buffer_.append(reinterpret_cast<const char*>(frame.data()),
                     static_cast<std::size_t>(Y.rows()) * sizeof(double));
    } else if (layout_.format == FrameFormat::s16) {
      for (const double value : frame) append_integer<std::int16_t>(buffer_, value);
    } else if (layout_.format == FrameFormat::s32) {
      for (const double value : frame) append_integer<std::int32_t>(buffer_, value);
    } else {
      single_.resize(Y.rows());
      for (Index i = 0; i < Y.rows(); ++i) {
        single_(i) =
            static_cast<float>(std::clamp(frame(i), -largest_single, largest_single));  // NaN stays NaN
      }
      buffer_.append(reinterpret_cast<const char*>(single_.data()),
                     static_cast<std::size_t>(Y.rows()) * sizeof(float));
    }
    if (frames_ >= 0) ++frames_;
    if (buffer_.size() < write_chunk || failed) continue;
    try {
      flush();
    } catch (const Error&) {
      failed = std::current_exception();
    }
  }
  if (failed) std::rethrow_exception(failed);
}

void FrameWriter::interrupt_by(int descriptor) {
  struct stat info {};
  if (::fstat(file_.get(), &info) == 0 && !S_ISREG(info.st_mode)) interrupt_ = descriptor;
}

// To a pipe as much as it takes without waiting once it takes anything, and in whole frames, so that it can
// be left at any time.
std::size_t FrameWriter::next_part(std::size_t from) const {
  const std::size_t rest = buffer_.size() - from;
  if (interrupt_ < 0 || rest <= PIPE_BUF) return rest;
  if (layout_.format != FrameFormat::csv)
    return std::max<std::size_t>(1, PIPE_BUF / frame_bytes()) * frame_bytes();
  const std::size_t end = std::string_view(buffer_).substr(from, PIPE_BUF).rfind('\n');
  return end == std::string::npos ? PIPE_BUF : end + 1;
}

void FrameWriter::wait_for_reader() {
  std::array<pollfd, 2> fds{
      {{file_.get(), POLLOUT, 0}, {interrupt_, POLLIN, 0}}};  // a descriptor of -1 is ignored
  while (::poll(fds.data(), fds.size(), -1) < 0) {
    if (errno != EINTR) throw failure(name_, "cannot write");
  }
  if (fds[0].revents != 0) return;
  constexpr int grace = 1000;  // ms
  int ready = 0;
  do {
    ready = ::poll(fds.data(), 1, grace);
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) throw Interrupted(name_ + ": interrupted; nobody reads it");
}

void FrameWriter::flush() {
  std::size_t done = 0;
  const auto drop_done = [&] { buffer_.erase(0, std::exchange(done, 0)); };  // bytes() has counted it
  try {
    while (done < buffer_.size()) {
      if (interrupt_ >= 0) wait_for_reader();
      const ssize_t put = ::write(file_.get(), buffer_.data() + done, next_part(done));
      if (put >= 0) {
        done += static_cast<std::size_t>(put);
        bytes_ += static_cast<std::uint64_t>(put);
      } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
        wait_for_reader();  // someone we share it with has made it non-blocking
      } else if (errno == EPIPE) {
        throw ClosedPipe(name_ + ": nobody reads it any more");
      } else if (errno != EINTR) {
        throw failure(name_, "cannot write");
      }
    }
  } catch (...) {
    drop_done();
    throw;
  }
  drop_done();
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
  if (layout_.format != FrameFormat::wav || header_at_ < 0 || bytes_ >= wav::unknown_size) return;
  patch(wav::header(layout_, static_cast<std::uint32_t>(bytes_ - header_.size())));
}

void FrameWriter::patch(const std::string& header) {
  ssize_t put = -1;
  do {
    put = ::pwrite(file_.get(), header.data(), header.size(), header_at_);
  } while (put < 0 && errno == EINTR);
  if (put != static_cast<ssize_t>(header.size())) throw failure(name_, "cannot write");
}

}  // namespace demix::io
