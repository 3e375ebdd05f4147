#pragma once

#include <optional>
#include <string>
#include <vector>

#include "io/format_files.hpp"

/// MATLAB's files of version 7.3, which are HDF5: the few things in them that signals need.
namespace demix::io {

bool is_hdf5(const Path& file);  ///< by its first bytes

namespace hdf5 {

class File {
 public:
  explicit File(const Path& path);
  ~File();
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool has(const std::string& path) const;
  std::vector<std::string> names(const std::string& group) const;
  bool is_text(const std::string& path) const;
  bool is_numbers(const std::string& path) const;
  /// As MATLAB says it: the first index runs fastest.
  std::vector<std::uint64_t> shape(const std::string& path) const;
  std::optional<double> number(const std::string& path) const;  ///< of one number
  std::string text(const std::string& path) const;              ///< in UTF-8; a number in decimals
  /// Of a field of an array of structs: what each item has there.
  std::vector<std::string> texts(const std::string& path) const;
  std::vector<double> numbers(const std::string& path) const;  ///< NaN where there is none

  /// An array of 2 or 3 dimensions as signals: channels x frames (x epochs) or, if `by_frames`, frames x
  /// channels. It takes this file with it.
  static Reader open(std::unique_ptr<File> file, const std::string& path, bool by_frames, SignalInfo info);

 private:
  friend class Hdf5Reader;
  Path path_;
  std::int64_t file_ = -1;
};

}  // namespace hdf5

// eeglab_hdf5.cpp
Reader open_set_hdf5(const Path& file, const ReadOptions& options);
Reader open_mat_hdf5(const Path& file, const ReadOptions& options);
/// The .fdt file that a .set file names. (eeglab.cpp)
Path set_data_file(const Path& file, const std::string& stored);

}  // namespace demix::io
