#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "demix/frame_io.hpp"
#include "demix/io.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true);
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

}  // namespace demix::io
