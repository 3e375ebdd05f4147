#include "demix/file_use.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "demix/electrode_files.hpp"
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

std::string shown(const std::string& name, const char* standard) { return name == "-" ? standard : name; }

}  // namespace

FileUse& FileUse::also_reads(const std::vector<fs::path>& files) {
  reads.insert(reads.end(), files.begin(), files.end());
  return *this;
}

FileUse& FileUse::also_writes(const std::vector<fs::path>& files) {
  writes.insert(writes.end(), files.begin(), files.end());
  return *this;
}

FileUse& FileUse::also_reads_signals(const fs::path& file, const ReadOptions& options) {
  return file.empty() ? *this : also_reads(FileRecording({file}, options).files());
}

FileUse& FileUse::also_reads_model(const fs::path& file) {
  return file.empty() ? *this : also_reads(model_paths(file));
}

FileUse& FileUse::also_reads_electrodes(const fs::path& file) {
  return file.empty() ? *this : also_reads(electrode_paths(file));
}

void require_different_files(const FileUse& use) {
  std::vector<std::pair<std::string, Identity>> read;
  for (const fs::path& path : use.reads) {
    const std::string name = path.string();
    if (name.empty()) continue;
    read.emplace_back(name, identity(name, STDIN_FILENO));
  }
  const auto goes_to_input = [&](const Identity& id) {
    const auto found = std::ranges::find_if(read, [&](const auto& one) { return id.is(one.second); });
    return found == read.end()
               ? ""
               : " goes to " + shown(found->first, "standard input") + ", which is read; write elsewhere";
  };
  const std::string out_conflict = goes_to_input(identity("-", STDOUT_FILENO));
  if (const std::string conflict = goes_to_input(identity("-", STDERR_FILENO)); !conflict.empty())
    throw MessageConflict(out_conflict.empty() ? "standard error" + conflict : "");
  if (!out_conflict.empty()) throw FileConflict("standard output" + out_conflict);
  std::vector<fs::path> writes = use.writes;
  for (const fs::path& path : use.writes) {
    if (!is_supported(path)) continue;
    for (const std::string_view other : format_of(path).others)
      writes.push_back(fs::path(path).replace_extension(other));
  }
  std::vector<Identity> written;
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
}

}  // namespace demix::io
