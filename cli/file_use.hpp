#pragma once

#include <filesystem>
#include <string>
#include <vector>

/// No command replaces a file it reads.
namespace demix::cli {

/// What a command reads and what it is going to write. "-" is standard input, or output; "" is nothing.
struct FileUse {
  std::vector<std::string> reads;
  std::vector<std::filesystem::path> writes;

  FileUse& also_reads(const std::vector<std::string>& files);
  FileUse& also_writes(const std::vector<std::filesystem::path>& files);
};

/// Before any work: throws UsageError if a file that is read would be replaced, also by another spelling of
/// its name, through links or where standard output goes, or if two files to be written are the same.
void require_different_files(const FileUse& use);

}  // namespace demix::cli
