#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <deque>
#include <string>
#include <utility>

#include "demix/io.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

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

namespace {

// A complete file under a temporary name; gone again unless kept.
class Temporary {
 public:
  Temporary(const fs::path& path, std::string_view bytes) : path_(path) {
    if (fs::is_directory(path)) throw Error(path.string() + ": cannot write: a folder has that name");
    static std::atomic<unsigned> counter{0};
    name_ = path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".part";
    File file(::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
    if (file.get() < 0) throw failure(path, "cannot write");
    written_ = true;
    try {
      while (!bytes.empty()) {
        const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) throw failure(path, "cannot write");
        bytes.remove_prefix(static_cast<std::size_t>(put));
      }
      if (::fsync(file.get()) != 0 || file.close() != 0) throw failure(path, "cannot write");
    } catch (...) {
      ::unlink(name_.c_str());
      throw;
    }
  }
  ~Temporary() {
    if (written_) ::unlink(name_.c_str());
  }
  Temporary(const Temporary&) = delete;
  Temporary& operator=(const Temporary&) = delete;

  void keep() {
    if (::rename(name_.c_str(), path_.c_str()) != 0) throw failure(path_, "cannot write");
    written_ = false;
  }

 private:
  fs::path path_;
  std::string name_;
  bool written_ = false;
};

}  // namespace

void write_files(const std::vector<std::pair<fs::path, std::string>>& files) {
  std::deque<Temporary> parts;  // all of them complete before the first gets its name
  for (const auto& [path, bytes] : files) parts.emplace_back(path, bytes);
  for (Temporary& part : parts) part.keep();
}

void write_file(const fs::path& path, std::string_view bytes) { Temporary(path, bytes).keep(); }

std::string to_bytes(const fs::path& path, const Signals& signals) {
  switch (format_of(path)) {
    case Format::npy:
      return to_npy(signals.data);
    case Format::comma:
      return to_text(signals, ',');
    case Format::tab:
      return to_text(signals, '\t');
    case Format::unknown:
      break;
  }
  throw unknown_format(path);
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
  write_file(path, to_bytes(path, signals));
}

}  // namespace demix::io
