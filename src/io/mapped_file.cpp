#include "io/mapped_file.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "demix/frame_io.hpp"
#include "io/failure.hpp"

namespace demix::io {

MappedFile::MappedFile(const std::filesystem::path& path) {
  const Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC), true);
  if (file.get() < 0) throw failure(path, "cannot open");
  struct stat info {};
  if (::fstat(file.get(), &info) != 0) throw failure(path, "cannot read");
  if (S_ISDIR(info.st_mode)) throw Error(path.string() + ": is a folder, not a file");
  const auto size = static_cast<std::size_t>(info.st_size);
  if (size == 0) throw Error(path.string() + ": the file is empty");
  void* start = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file.get(), 0);
  if (start == MAP_FAILED) throw failure(path, "cannot read");
  bytes_ = {static_cast<const char*>(start), size};
}

MappedFile::~MappedFile() { ::munmap(const_cast<char*>(bytes_.data()), bytes_.size()); }

}  // namespace demix::io
