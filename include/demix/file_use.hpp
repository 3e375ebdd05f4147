#pragma once

#include <filesystem>
#include <stdexcept>
#include <vector>

#include "demix/signal_files.hpp"

/// Checks that no output replaces an input.
namespace demix::io {

/// What is read and what is going to be written. "-" is standard input, or output; "" is nothing.
struct FileUse {
  std::vector<std::filesystem::path> reads;
  std::vector<std::filesystem::path> writes;

  FileUse& also_reads(const std::vector<std::filesystem::path>& files);
  FileUse& also_writes(const std::vector<std::filesystem::path>& files);
  /// With all that are opened for it: files that a header names, tables and others beside it. Opens signals,
  /// which throws Error where the command itself would fail.
  FileUse& also_reads_signals(const std::filesystem::path& file, const ReadOptions& options = {});
  FileUse& also_reads_model(const std::filesystem::path& file);
  FileUse& also_reads_electrodes(const std::filesystem::path& file);
};

struct FileConflict : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};
/// Messages go to a file that is read: what() must not be printed there. It is empty if standard output goes
/// to one, too.
struct MessageConflict : FileConflict {
  using FileConflict::FileConflict;
};

/// Before any work: throws FileConflict if a file that is read would be replaced, also by another spelling of
/// its name, through links or where standard output goes, or if two files to be written are the same. Files
/// that a format writes besides the one that is named are added.
void require_different_files(const FileUse& use);

}  // namespace demix::io
