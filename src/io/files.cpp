#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <string>
#include <utility>

#include "demix/io.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

Error failure(const fs::path& path, const char* what) {
  return Error(path.string() + ": " + what + ": " + std::strerror(errno));
}

enum class Format { npy, comma, tab, unknown };

Format format_of(const fs::path& path) {
  std::string ext = path.extension().string();
  std::transform(ext.begin(), ext.end(), ext.begin(), [](unsigned char c) { return std::tolower(c); });
  if (ext == ".npy") return Format::npy;
  if (ext == ".csv") return Format::comma;
  if (ext == ".tsv" || ext == ".txt" || ext == ".dat") return Format::tab;
  return Format::unknown;
}

Error unknown_format(const fs::path& path) {
  return Error(path.string() + ": unknown kind of file; expected .npy, .csv, .tsv, .txt or .dat");
}

class File {  // closes itself
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int get() const { return fd_; }
  int close() { return ::close(std::exchange(fd_, -1)); }

 private:
  int fd_;
};

}  // namespace

bool is_supported(const fs::path& path) { return format_of(path) != Format::unknown; }

std::string read_file(const fs::path& path) {
  const File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (file.get() < 0) throw failure(path, "cannot open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw failure(path, "cannot read");
  if (S_ISDIR(info.st_mode)) throw Error(path.string() + ": is a folder, not a file");
  std::string bytes;
  bytes.reserve(static_cast<std::size_t>(info.st_size));
  std::array<char, 1 << 16> buffer{};
  for (;;) {
    const ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw failure(path, "cannot read");
    if (got == 0) return bytes;
    bytes.append(buffer.data(), static_cast<std::size_t>(got));
  }
}

void write_file(const fs::path& path, std::string_view bytes) {
  std::string temporary = path.string() + ".XXXXXX";
  File file(::mkstemp(temporary.data()));
  if (file.get() < 0) throw failure(path, "cannot write");
  try {
    while (!bytes.empty()) {
      const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
      if (put < 0 && errno == EINTR) continue;
      if (put < 0) throw failure(path, "cannot write");
      bytes.remove_prefix(static_cast<std::size_t>(put));
    }
    const mode_t mask = ::umask(0);  // mkstemp makes it private; give it the permissions of any new file
    ::umask(mask);
    ::fchmod(file.get(), 0666 & ~mask);
    if (::fsync(file.get()) != 0 || file.close() != 0) throw failure(path, "cannot write");
    if (::rename(temporary.c_str(), path.c_str()) != 0) throw failure(path, "cannot write");
  } catch (...) {
    ::unlink(temporary.c_str());
    throw;
  }
}

Signals read_signals(const fs::path& path) {
  switch (format_of(path)) {
    case Format::npy:
      return parse_npy(read_file(path), path.string());
    case Format::comma:
    case Format::tab:
      return parse_text(read_file(path), path.string());
    case Format::unknown:
      break;
  }
  throw unknown_format(path);
}

void write_signals(const fs::path& path, const Signals& signals) {
  switch (format_of(path)) {
    case Format::npy:
      return write_file(path, to_npy(signals.data));
    case Format::comma:
      return write_file(path, to_text(signals, ','));
    case Format::tab:
      return write_file(path, to_text(signals, '\t'));
    case Format::unknown:
      break;
  }
  throw unknown_format(path);
}

}  // namespace demix::io
