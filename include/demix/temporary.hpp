#pragma once

#include <filesystem>
#include <span>
#include <vector>

/// Output files under temporary names, renamed when they are complete.
namespace demix {

/// Where a file of this name would be written: symbolic links are followed, also to a file that is not there
/// yet. Throws std::system_error for links that go round in circles.
std::filesystem::path followed(const std::filesystem::path& path);

/// An empty file or folder beside `target`: NAME.demix-RANDOM.part. It is locked for as long as it is in use,
/// so that one whose process was killed can be told from others; such are removed when the next one for the
/// same target is made. It is removed at the end of its life, unless it was given the name of its target.
class Temporary {
 public:
  enum class Kind { file, folder };
  /// Throws std::system_error.
  explicit Temporary(std::filesystem::path target, Kind kind = Kind::file);
  ~Temporary();
  Temporary(Temporary&& other) noexcept;
  Temporary& operator=(Temporary&&) = delete;

  const std::filesystem::path& path() const { return path_; }
  int descriptor() const { return descriptor_; }  ///< to write to, or to sync

  /// All get the names of their targets, whatever signal comes. Throws std::system_error at the first that
  /// cannot.
  static void rename(std::span<Temporary> all);

 private:
  std::filesystem::path target_;
  std::filesystem::path path_;  // empty: gone, or renamed
  int descriptor_ = -1;
};

/// A folder for results, with its parents. Throws std::system_error.
void make_folders(const std::filesystem::path& folder);
/// Of the folders it made, those that are empty: for a process that has failed.
void remove_made_folders();

/// For a process that shares its work with another one, which writes these files into this new folder (if one
/// is named): should the other be killed, this one, when it is told to end by remove_temporaries(), removes
/// what that has left.
void clean_up_after_others(const std::vector<std::filesystem::path>& targets,
                           const std::filesystem::path& folder = {});

/// Removes all temporaries there are, and folders made for nothing. From then on no temporary can be made or
/// renamed: whoever tries waits for ever. For a process that is about to end itself.
void remove_temporaries();

}  // namespace demix
