#include "io/byte_sink.hpp"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>

#include "demix/signal_stream.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace {

Descriptor open_output(const std::string& path, const std::string& name, int how) {
  if (path == "-") return {STDOUT_FILENO, false};
  Descriptor file(::open(path.c_str(), how | O_CLOEXEC, 0666), true);
  if (file.get() < 0 && errno == EINTR) throw Interrupted(name + ": interrupted while opening it");
  if (file.get() < 0) throw failure(name, "cannot write");
  return file;
}

std::string output_name(const std::string& path) { return path == "-" ? "standard output" : path; }

}  // namespace

ByteSink::ByteSink(const std::string& path, std::size_t frame_bytes)
    : name_(output_name(path)),
      is_standard_output_(path == "-"),
      file_(open_output(path, name_, O_WRONLY | O_CREAT | O_TRUNC)),
      frame_bytes_(frame_bytes) {
  struct stat info {};
  const bool appends = (::fcntl(file_.get(), F_GETFL) & O_APPEND) != 0;  // then pwrite(2) appends, too
  if (::fstat(file_.get(), &info) == 0 && S_ISREG(info.st_mode) && !appends)
    start_ = ::lseek(file_.get(), 0, SEEK_CUR);
}

ByteSink::ByteSink(const std::string& path, std::size_t frame_bytes, std::uint64_t bytes,
                   std::string unwritten)
    : buffer(std::move(unwritten)),
      name_(output_name(path)),
      is_standard_output_(path == "-"),
      file_(open_output(path, name_, O_RDWR)),
      frame_bytes_(frame_bytes),
      start_(is_standard_output_ ? -1 : 0),
      bytes_(bytes) {}

void ByteSink::interrupt_by(int descriptor) {
  struct stat info {};
  if (::fstat(file_.get(), &info) == 0 && !S_ISREG(info.st_mode)) interrupt_ = descriptor;
}

// To a pipe as much as it takes without waiting once it takes anything, and in whole frames, so that it can
// be left at any time.
std::size_t ByteSink::next_part(std::size_t from) const {
  const std::size_t rest = buffer.size() - from;
  if (interrupt_ < 0 || rest <= PIPE_BUF) return rest;
  if (frame_bytes_ > 0) return std::max<std::size_t>(1, PIPE_BUF / frame_bytes_) * frame_bytes_;
  const std::size_t end = std::string_view(buffer).substr(from, PIPE_BUF).rfind('\n');
  return end == std::string::npos ? PIPE_BUF : end + 1;
}

void ByteSink::wait_for_reader() {
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

void ByteSink::flush() {
  std::size_t done = 0;
  const auto drop_done = [&] { buffer.erase(0, std::exchange(done, 0)); };  // bytes() has counted it
  try {
    while (done < buffer.size()) {
      if (interrupt_ >= 0) wait_for_reader();
      const ssize_t put = ::write(file_.get(), buffer.data() + done, next_part(done));
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

void ByteSink::sync() {
  flush();
  while (::fdatasync(file_.get()) != 0) {
    if (errno == EINVAL || errno == EROFS) return;  // a pipe or a terminal
    if (errno != EINTR) throw failure(name_, "cannot write");
  }
}

void ByteSink::patch(std::string_view header) {
  ssize_t put = -1;
  do {
    put = ::pwrite(file_.get(), header.data(), header.size(), start_);
  } while (put < 0 && errno == EINTR);
  if (put != static_cast<ssize_t>(header.size())) throw failure(name_, "cannot write");
}

std::uint64_t ByteSink::file_size() const {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) throw failure(name_, "cannot write");
  if (!S_ISREG(info.st_mode)) throw Error(name_ + ": cannot go on with it; it is not a regular file");
  return static_cast<std::uint64_t>(info.st_size);
}

std::string ByteSink::read_back(std::uint64_t at, std::size_t most) const {
  std::string part(most, '\0');
  const ssize_t got = ::pread(file_.get(), part.data(), most, static_cast<off_t>(at));
  if (got < 0) throw failure(name_, "cannot read");
  part.resize(static_cast<std::size_t>(got));
  return part;
}

void ByteSink::cut_off() {
  if (::ftruncate(file_.get(), static_cast<off_t>(bytes_)) != 0 || ::lseek(file_.get(), 0, SEEK_END) < 0)
    throw failure(name_, "cannot write");
}

}  // namespace demix::io
