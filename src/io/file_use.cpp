#include "demix/file_use.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "demix/temporary.hpp"

namespace demix::io {
namespace fs = std::filesystem;
namespace {

// One file, whatever it is called.
struct Identity {
  bool exists = false, regular = false;
  dev_t device = 0;
  ino_t number = 0;
  fs::path path;  // of one that does not exist

  // Devices and pipes are nobody's own: they can be read and written at once.
  bool is(const Identity& other) const {
    if (exists != other.exists) return false;
    if (!exists) return path == other.path;
    return regular && device == other.device && number == other.number;
  }
};

Identity identity(const std::string& name, int standard) {
  Identity id;
  struct stat info {};
  id.exists = (name == "-" ? ::fstat(standard, &info) : ::stat(name.c_str(), &info)) == 0;
  if (id.exists) {
    id.regular = S_ISREG(info.st_mode);
    id.device = info.st_dev;
    id.number = info.st_ino;
    return id;
  }
  std::error_code none;
  id.path = fs::weakly_canonical(fs::absolute(followed(name), none), none);
  return id;
}

// Where a header is a file of its own, it tells the names of the others: their extensions.
std::vector<std::string> files_beside(const fs::path& header) {
  if (header.extension() == ".set") return {".fdt"};
  if (header.extension() == ".vhdr") return {".eeg", ".dat", ".avg", ".seg", ".vmrk", ".amrk"};
  return {};
}

std::string shown(const std::string& name, const char* standard) { return name == "-" ? standard : name; }

}  // namespace

FileUse& FileUse::also_reads(const std::vector<std::string>& files) {
  reads.insert(reads.end(), files.begin(), files.end());
  return *this;
}

FileUse& FileUse::also_writes(const std::vector<fs::path>& files) {
  writes.insert(writes.end(), files.begin(), files.end());
  return *this;
}

void require_different_files(const FileUse& use) {
  std::vector<std::pair<std::string, Identity>> read;
  for (const std::string& name : use.reads) {
    if (name.empty()) continue;
    read.emplace_back(name, identity(name, STDIN_FILENO));
    const std::vector<std::string> others = files_beside(name);
    if (others.empty()) continue;
    std::error_code none;
    for (const auto& entry : fs::directory_iterator(fs::absolute(name, none).parent_path(), none)) {
      if (std::ranges::count(others, entry.path().extension().string()) > 0) {
        read.emplace_back(entry.path().string(), identity(entry.path().string(), STDIN_FILENO));
      }
    }
  }
  std::vector<Identity> written;
  std::vector<fs::path> writes = use.writes;
  for (const fs::path& path : use.writes) {
    if (path.extension() != ".vhdr") continue;
    for (const char* other : {".eeg", ".vmrk"}) writes.push_back(fs::path(path).replace_extension(other));
  }
  for (const fs::path& path : writes) {
    const std::string name = path.string();
    if (name.empty()) continue;
    const Identity id = identity(name, STDOUT_FILENO);
    for (const auto& [other, other_id] : read) {
      if (!id.is(other_id)) continue;
      throw FileConflict(shown(name, "standard output") + ": would replace " +
                         shown(other, "standard input") + ", which is read; write elsewhere");
    }
    for (const Identity& other : written) {
      if (!id.is(other)) continue;
      throw FileConflict(shown(name, "standard output") +
                         ": named twice; files to be written must be different ones");
    }
    written.push_back(id);
  }
  const Identity out = identity("-", STDOUT_FILENO);
  for (const auto& [name, id] : read) {
    if (out.is(id)) {
      throw FileConflict("standard output goes to " + shown(name, "standard input") +
                         ", which is read; write elsewhere");
    }
  }
}

}  // namespace demix::io
