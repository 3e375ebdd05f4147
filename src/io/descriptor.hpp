#pragma once

#include <unistd.h>

#include <utility>

namespace demix::io {

/// A file descriptor that closes itself if it is owned: standard input and output are not.
class Descriptor {
 public:
  Descriptor(int fd, bool owned) : fd_(fd), owned_(owned) {}
  Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)), owned_(other.owned_) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(owned_, other.owned_);
    return *this;
  }
  ~Descriptor() {
    if (owned_ && fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

}  // namespace demix::io
