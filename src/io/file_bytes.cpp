#include "io/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

void require_file(const struct stat& info, const fs::path& path, const char* advice) {
  if (S_ISDIR(info.st_mode)) throw Error(path.string() + ": is a folder, not a file");
  if (!S_ISREG(info.st_mode)) throw Error(path.string() + ": is a pipe or a device" + advice);
}

}  // namespace

void require_rereadable(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) throw failure(path, "cannot open");
  require_file(info, path, ", which cannot be read twice; save it to a file, or use demix stream");
}

// A pipe would block until someone writes to it.
Descriptor open_regular(const fs::path& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK), true);
  if (file.get() < 0) throw failure(path, "cannot open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw failure(path, "cannot read");
  require_file(info, path, ", not a file; save it to one first");
  return file;
}

FileBytes::FileBytes(const fs::path& path) : path_(path), file_(open_regular(path)) {
  struct stat info {};
  if (::fstat(file_.get(), &info) != 0) throw failure(path, "cannot read");
  size_ = static_cast<std::uint64_t>(info.st_size);
}

FileBytes::FileBytes(const fs::path& path, std::string unpacked)
    : path_(path), file_(-1, false), unpacked_(std::move(unpacked)), size_(unpacked_.size()) {}

const char* FileBytes::fetch(std::uint64_t at, std::size_t count, char* buffer) const {
  if (at > size_ || count > size_ - at) throw std::logic_error("fetch: beyond the end");
  if (in_memory()) return unpacked_.data() + at;
  for (std::size_t got = 0; got < count;) {
    const ssize_t n = ::pread(file_.get(), buffer + got, count - got, static_cast<off_t>(at + got));
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) throw failure(path_, "cannot read");
    if (n == 0) throw Error(path_.string() + ": has become shorter while it was read");
    got += static_cast<std::size_t>(n);
  }
  return buffer;
}

Part Part::all(std::shared_ptr<const FileBytes> bytes) {
  const std::uint64_t size = bytes->size();
  return {std::move(bytes), 0, size};
}

Part Part::from(std::uint64_t offset) const { return {bytes, at + offset, size - offset}; }

Part Part::sub(std::uint64_t offset, std::uint64_t count) const {
  return {bytes, at + offset, std::min(count, size - offset)};
}

const char* Part::fetch(std::uint64_t offset, std::size_t count, char* buffer) const {
  return bytes->fetch(at + offset, count, buffer);
}

std::string Part::copy(std::uint64_t offset, std::uint64_t most) const {
  const auto count = static_cast<std::size_t>(std::min(most, size - std::min(size, offset)));
  std::string text(count, '\0');
  const char* there = fetch(std::min(size, offset), count, text.data());
  if (there != text.data()) text.assign(there, count);
  return text;
}

Part Part::in_memory(std::uint64_t most) const {
  if (bytes->in_memory() || size > most) return *this;
  return all(std::make_shared<const FileBytes>(bytes->path(), copy(0, size)));
}

}  // namespace demix::io
