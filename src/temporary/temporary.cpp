#include "demix/temporary.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <mutex>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

namespace demix {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view mark = ".demix-";
constexpr std::string_view ending = ".part";
constexpr std::size_t random_letters = 10;

std::system_error failure(const fs::path& path) {
  return {errno, std::generic_category(), path.string() + ": cannot write"};
}

// Never destroyed: a signal may come while the process ends.
struct Registry {
  std::mutex mutex;
  std::set<fs::path> in_use;
  std::set<fs::path> swept;      // targets whose left-overs were looked for
  std::vector<fs::path> made;    // folders, parents first
  std::vector<fs::path> others;  // targets of other processes, see clean_up_after_others()
};
Registry& registry() {
  static Registry& all = *new Registry;
  return all;
}

std::string random_name(const fs::path& target) {
  static constexpr std::string_view letters = "abcdefghijklmnopqrstuvwxyz0123456789";
  static std::random_device device;
  std::uniform_int_distribution<std::size_t> draw(0, letters.size() - 1);
  std::string name = target.string() + std::string(mark);
  for (std::size_t k = 0; k < random_letters; ++k) name += letters[draw(device)];
  return name + std::string(ending);
}

bool is_name_for(std::string_view name, const std::string& target) {
  return name.size() == target.size() + mark.size() + random_letters + ending.size() &&
         name.starts_with(target) && name.substr(target.size()).starts_with(mark) && name.ends_with(ending);
}

// -1: it could not be made, or was taken for a left-over before it was locked (errno is EEXIST then, too).
int create(const fs::path& path, Temporary::Kind kind) {
  const bool folder = kind == Temporary::Kind::folder;
  if (folder && ::mkdir(path.c_str(), 0700) != 0) return -1;
  const int how = folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_EXCL;
  const int descriptor = ::open(path.c_str(), how | O_CLOEXEC, 0666);
  if (descriptor < 0) return -1;
  const bool busy = ::flock(descriptor, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  struct stat info {};
  if (!busy && ::fstat(descriptor, &info) == 0 && info.st_nlink > 0) return descriptor;
  ::close(descriptor);
  errno = EEXIST;
  return -1;
}

// What processes that were killed have left: nobody holds its lock.
void remove_left_overs(const fs::path& target) {
  std::error_code ignored;
  const fs::path folder = target.has_parent_path() ? target.parent_path() : fs::path(".");
  for (const auto& entry : fs::directory_iterator(folder, ignored)) {
    if (!is_name_for(entry.path().filename().string(), target.filename().string())) continue;
    const int descriptor = ::open(entry.path().c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (descriptor < 0) continue;
    if (::flock(descriptor, LOCK_EX | LOCK_NB) == 0) fs::remove_all(entry.path(), ignored);
    ::close(descriptor);
  }
}

}  // namespace

fs::path followed(const fs::path& path) {
  constexpr int most_links = 40;  // as the kernel
  fs::path at = path;
  std::error_code none;  // whoever opens it will hear what is wrong
  for (int links = 0; fs::is_symlink(fs::symlink_status(at, none)); ++links) {
    if (links == most_links) {
      errno = ELOOP;
      throw failure(path);
    }
    at = at.parent_path() / fs::read_symlink(at, none);  // an absolute one replaces it all
  }
  return at;
}

Temporary::Temporary(fs::path target, Kind kind) : target_(std::move(target)) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::error_code none;
  if (all.swept.insert(fs::absolute(target_, none)).second) remove_left_overs(target_);
  do {
    path_ = random_name(target_);
    descriptor_ = create(path_, kind);
  } while (descriptor_ < 0 && (errno == EEXIST || errno == EINTR));
  if (descriptor_ < 0) throw failure(target_);
  all.in_use.insert(path_);
}

Temporary::Temporary(Temporary&& other) noexcept
    : target_(std::move(other.target_)),
      path_(std::exchange(other.path_, {})),
      descriptor_(std::exchange(other.descriptor_, -1)) {}

Temporary::~Temporary() {
  if (!path_.empty()) {
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);
    std::error_code ignored;
    fs::remove_all(path_, ignored);
    all.in_use.erase(path_);
  }
  if (descriptor_ >= 0) ::close(descriptor_);
}

void Temporary::rename(std::span<Temporary> files) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  for (Temporary& file : files) {
    if (::rename(file.path_.c_str(), file.target_.c_str()) != 0) throw failure(file.target_);
    all.in_use.erase(file.path_);
    file.path_.clear();
  }
}

namespace {

void remove_empty(const std::vector<fs::path>& folders) {
  std::for_each(folders.rbegin(), folders.rend(), [](const fs::path& folder) { ::rmdir(folder.c_str()); });
}

}  // namespace

void make_folders(const fs::path& folder) {
  std::error_code none;
  const fs::path whole = fs::absolute(folder, none);
  fs::path at;
  for (const fs::path& part : whole) {
    at /= part;
    if (fs::exists(at, none)) continue;
    Registry& all = registry();
    const std::lock_guard lock(all.mutex);  // no signal between making and remembering it
    if (::mkdir(at.c_str(), 0777) == 0) {
      all.made.push_back(at);
    } else if (errno != EEXIST) {
      throw std::system_error(errno, std::generic_category(), folder.string() + ": cannot make this folder");
    }
  }
}

void clean_up_after_others(const std::vector<fs::path>& targets, const fs::path& folder) {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  std::error_code none;
  for (const fs::path& target : targets) all.others.push_back(fs::absolute(followed(target), none));
  if (folder.empty()) return;
  fs::path at;
  for (const fs::path& part : fs::absolute(folder, none)) {
    at /= part;
    if (!fs::exists(at, none)) all.made.push_back(at);
  }
}

void remove_made_folders() {
  Registry& all = registry();
  const std::lock_guard lock(all.mutex);
  remove_empty(all.made);
}

void remove_temporaries() {
  Registry& all = registry();
  all.mutex.lock();  // for ever
  std::error_code ignored;
  for (const fs::path& path : all.in_use) fs::remove_all(path, ignored);
  for (const fs::path& target : all.others) remove_left_overs(target);
  remove_empty(all.made);
}

}  // namespace demix
