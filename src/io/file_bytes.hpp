#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>

#include "io/descriptor.hpp"

/// Bytes of files, read where they are asked for. Nothing is mapped: a file that becomes shorter meanwhile is
/// an Error, not a signal.
namespace demix::io {

/// Opens a file to read. Refuses pipes and devices, which may never end.
Descriptor open_regular(const std::filesystem::path& path);
void require_rereadable(const std::filesystem::path& path);  ///< refuses the same, for signals

/// The bytes of a file, or what was unpacked from it. Any number of threads may read them.
class FileBytes {
 public:
  explicit FileBytes(const std::filesystem::path& path);
  FileBytes(const std::filesystem::path& path, std::string unpacked);

  const std::filesystem::path& path() const { return path_; }
  std::uint64_t size() const { return size_; }
  bool in_memory() const { return file_.get() < 0; }
  /// `count` bytes from `at` on: where they are in memory, or `buffer`, to which they were read.
  const char* fetch(std::uint64_t at, std::size_t count, char* buffer) const;

 private:
  std::filesystem::path path_;  // for messages
  Descriptor file_;
  std::string unpacked_;  // instead of the file
  std::uint64_t size_ = 0;
};

/// Some of them that follow each other.
struct Part {
  std::shared_ptr<const FileBytes> bytes;
  std::uint64_t at = 0, size = 0;

  static Part all(std::shared_ptr<const FileBytes> bytes);
  Part from(std::uint64_t offset) const;                      ///< up to the end; offset <= size
  Part sub(std::uint64_t offset, std::uint64_t count) const;  ///< no more than there is
  const char* fetch(std::uint64_t offset, std::size_t count, char* buffer) const;
  std::string copy(std::uint64_t offset, std::uint64_t most) const;  ///< less where it ends
  Part in_memory(std::uint64_t most) const;  ///< the same in memory, if it is no longer than that
};

}  // namespace demix::io
