#pragma once

#include <filesystem>
#include <stdexcept>
#include <string>
#include <vector>

/// Checks that no output replaces an input.
namespace demix::io {

/// What is read and what is going to be written. "-" is standard input, or output; "" is nothing.
struct FileUse {
  std::vector<std::string> reads;
  std::vector<std::filesystem::path> writes;

  FileUse& also_reads(const std::vector<std::string>& files);
  FileUse& also_writes(const std::vector<std::filesystem::path>& files);
};

struct FileConflict : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// Before any work: throws FileConflict if a file that is read would be replaced, also by another spelling of
/// its name, through links or where standard output goes, or if two files to be written are the same.
void require_different_files(const FileUse& use);

}  // namespace demix::io
