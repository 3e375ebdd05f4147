#include <unistd.h>

#include <cerrno>
#include <string>
#include <system_error>

#include "demix/signal_files.hpp"
#include "io/failure.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

// What will be replaced; a link stays one.
fs::path target_of(const fs::path& path) {
  fs::path target = followed(path);
  std::error_code none;
  const fs::file_status status = fs::status(target, none);
  if (fs::is_directory(status)) throw Error(path.string() + ": cannot write: a folder has that name");
  if (fs::exists(status) && !fs::is_regular_file(status)) {
    throw Error(path.string() + ": cannot write: not a regular file; name another");
  }
  return target;
}

}  // namespace

fs::path NewFiles::add(const fs::path& path) {
  try {
    temporaries_.emplace_back(target_of(path));
  } catch (const std::system_error& e) {
    throw Error(e.what());
  }
  paths_.push_back(path);
  return temporaries_.back().path();
}

void NewFiles::write(const fs::path& path, std::string_view bytes) {
  add(path);
  const int file = temporaries_.back().descriptor();
  while (!bytes.empty()) {
    const ssize_t put = ::write(file, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) throw failure(path, "cannot write");
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
}

void NewFiles::commit() {
  for (std::size_t k = 0; k < paths_.size(); ++k) {  // all of them on the disk before the first gets its name
    if (::fsync(temporaries_[k].descriptor()) != 0) throw failure(paths_[k], "cannot write");
  }
  try {
    Temporary::rename(temporaries_);
  } catch (const std::system_error& e) {
    throw Error(e.what());
  }
  temporaries_.clear();
  paths_.clear();
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
