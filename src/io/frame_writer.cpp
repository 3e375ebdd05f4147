#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <limits>
#include <string>

#include "demix/frame_io.hpp"
#include "io/bytes.hpp"
#include "io/failure.hpp"
#include "io/text_line.hpp"
#include "io/wav.hpp"

namespace demix::io {
namespace {

constexpr std::size_t chunk = 1 << 16;
constexpr std::array<std::string_view, 4> format_names = {"f32", "f64", "wav", "csv"};

constexpr double largest_single = std::numeric_limits<float>::max();

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
  if (layout_.format == FrameFormat::wav)
    wav::forget_lengths(found);  // an earlier finish() may have put them in
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
    } else {
      single_.resize(Y.rows());
      for (Index i = 0; i < Y.rows(); ++i) {
        single_(i) =
            static_cast<float>(std::clamp(frame(i), -largest_single, largest_single));  // NaN stays NaN
      }
      buffer_.append(reinterpret_cast<const char*>(single_.data()),
                     static_cast<std::size_t>(Y.rows()) * sizeof(float));
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
