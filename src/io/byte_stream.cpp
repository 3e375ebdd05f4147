#include "io/byte_stream.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "demix/signal_stream.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace {

constexpr std::size_t chunk = 1 << 16;  // what a pipe holds

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

ByteStream::ByteStream(const std::string& path)
    : name_(path == "-" ? "standard input" : path), file_(open_input(path, name_)), buffer_(chunk) {
  struct stat info {};
  is_file_ = ::fstat(fd(), &info) == 0 && S_ISREG(info.st_mode);
}

bool ByteStream::fill() {
  if (begin_ > 0) std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
  end_ -= std::exchange(begin_, 0);
  for (;;) {
    const ssize_t got = ::read(fd(), buffer_.data() + end_, buffer_.size() - end_);
    if (got >= 0) {
      end_ += static_cast<std::size_t>(got);
      is_over_ = got == 0;
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

void ByteStream::fill_or_throw() {
  if (!fill()) throw Interrupted(name_ + ": interrupted while waiting for input");
}

std::uint64_t ByteStream::left() const {
  struct stat info {};
  const off_t at = ::lseek(fd(), 0, SEEK_CUR);
  const bool known = is_file_ && at >= 0 && ::fstat(fd(), &info) == 0 && info.st_size > at;
  return ahead().size() + (known ? static_cast<std::uint64_t>(info.st_size - at) : 0);
}

std::uint64_t ByteStream::size() const {
  struct stat info {};
  return ::fstat(fd(), &info) == 0 ? static_cast<std::uint64_t>(info.st_size) : 0;
}

bool ByteStream::seek_forward(std::uint64_t bytes) {
  if (bytes > left()) return false;
  const std::uint64_t buffered = std::min<std::uint64_t>(bytes, ahead().size());
  if (bytes > buffered && ::lseek(fd(), static_cast<off_t>(bytes - buffered), SEEK_CUR) < 0) return false;
  begin_ += static_cast<std::size_t>(buffered);
  return true;
}

}  // namespace demix::io
