#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/descriptor.hpp"

/// Where a stream's bytes come from: a file, a pipe or standard input, in their order.
namespace demix::io {

class ByteStream {
 public:
  explicit ByteStream(const std::string& path);  ///< "-": standard input

  const std::string& name() const { return name_; }  ///< for messages
  int fd() const { return file_.get(); }
  bool is_file() const { return is_file_; }  ///< else it is a pipe, or another thing of no known length

  /// What has been read but not taken. The view is good until the next call that is not const.
  std::string_view ahead() const { return {buffer_.data() + begin_, end_ - begin_}; }
  bool is_over() const { return is_over_; }  ///< no byte follows those ahead
  bool is_full() const { return end_ - begin_ == buffer_.size(); }
  std::size_t capacity() const { return buffer_.size(); }
  void reserve(std::size_t bytes) { buffer_.resize(std::max(bytes, buffer_.size())); }

  bool fill();           ///< one read(2), into what space there is; false if a signal came instead
  void fill_or_throw();  ///< Interrupted if a signal came
  void take(std::size_t bytes) { begin_ += bytes; }

  /// Of a file all that is left, elsewhere only what is ahead.
  std::uint64_t left() const;
  std::uint64_t size() const;  ///< of a file
  bool seek_forward(
      std::uint64_t bytes);  ///< from the first byte ahead; false if it cannot, and nothing is done

 private:
  std::string name_;
  Descriptor file_;
  bool is_file_ = false;
  bool is_over_ = false;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // of what is ahead, in the buffer
};

}  // namespace demix::io
