#pragma once

#include <fcntl.h>
#include <unistd.h>

#include <mutex>

namespace demix::io {

/// Keeps stderr to itself while it lives: libmpg123, which decodes MP3, writes notes of its own there. What
/// other threads write meanwhile is lost, too.
class Quiet {
 public:
  explicit Quiet(bool is_on) {
    if (!is_on) return;
    lock_ = std::unique_lock(one_at_a_time());
    const int nowhere = ::open("/dev/null", O_WRONLY | O_CLOEXEC);
    if (nowhere < 0) return;
    saved_ = ::fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    if (saved_ >= 0) ::dup2(nowhere, STDERR_FILENO);
    ::close(nowhere);
  }
  ~Quiet() {
    if (saved_ < 0) return;
    ::dup2(saved_, STDERR_FILENO);
    ::close(saved_);
  }
  Quiet(const Quiet&) = delete;
  Quiet& operator=(const Quiet&) = delete;

 private:
  static std::mutex& one_at_a_time() {
    static std::mutex mutex;
    return mutex;
  }

  std::unique_lock<std::mutex> lock_;
  int saved_ = -1;
};

}  // namespace demix::io
