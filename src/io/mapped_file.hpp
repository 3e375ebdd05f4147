#pragma once

#include <filesystem>
#include <string_view>

namespace demix::io {

/// The bytes of a file, read only where they are looked at: finding an array in a large file is cheap.
class MappedFile {
 public:
  explicit MappedFile(const std::filesystem::path& path);
  ~MappedFile();
  MappedFile(const MappedFile&) = delete;
  MappedFile& operator=(const MappedFile&) = delete;
  std::string_view bytes() const { return bytes_; }

 private:
  std::string_view bytes_;
};

}  // namespace demix::io
