#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "demix/io.hpp"
#include "io/failure.hpp"
#include "io/file_bytes.hpp"

namespace demix::io {

// What is still being written to is read up to where it ends now.
std::string read_file(const std::filesystem::path& path) {
  const Descriptor file = open_regular(path);
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw failure(path, "cannot read");
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
