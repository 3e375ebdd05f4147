#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <string>

#include "demix/frame_io.hpp"
#include "demix/signal_files.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;

fs::path NewFiles::add(const fs::path& path) {
  if (fs::is_directory(path)) throw Error(path.string() + ": cannot write: a folder has that name");
  static std::atomic<unsigned> counter{0};
  const fs::path temporary =
      path.string() + "." + std::to_string(::getpid()) + "-" + std::to_string(counter++) + ".part";
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666), true);
  if (file.get() < 0) throw failure(path, "cannot write");
  files_.push_back({path, temporary});
  return temporary;
}

void NewFiles::write(const fs::path& path, std::string_view bytes) {
  const fs::path temporary = add(path);
  const Descriptor file(::open(temporary.c_str(), O_WRONLY | O_CLOEXEC), true);
  while (!bytes.empty()) {
    const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw failure(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void NewFiles::commit() {
  for (const File& f : files_) {  // all of them on the disk before the first gets its name
    const Descriptor file(::open(f.temporary.c_str(), O_WRONLY | O_CLOEXEC), true);
    if (file.get() < 0 || ::fsync(file.get()) != 0) throw failure(f.path, "cannot write");
  }
  for (File& f : files_) {
    if (::rename(f.temporary.c_str(), f.path.c_str()) != 0) throw failure(f.path, "cannot write");
    f.temporary.clear();
  }
  files_.clear();
}

NewFiles::~NewFiles() {
  for (const File& f : files_) {
    if (!f.temporary.empty()) ::unlink(f.temporary.c_str());
  }
}

void write_files(const std::vector<std::pair<fs::path, std::string>>& files) {
  NewFiles all;
  for (const auto& [path, bytes] : files) all.write(path, bytes);
  all.commit();
}

void write_file(const fs::path& path, std::string_view bytes) {
  NewFiles one;
  one.write(path, bytes);
  one.commit();
}

}  // namespace demix::io
