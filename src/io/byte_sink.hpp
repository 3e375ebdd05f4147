#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/descriptor.hpp"

/// Where a stream's bytes go: a file, a pipe or standard output, through a buffer.
namespace demix::io {

class ByteSink {
 public:
  /// A file is created or truncated; "-" is standard output. `frame_bytes`: of one frame; 0: a frame is a
  /// line.
  ByteSink(const std::string& path, std::size_t frame_bytes);
  /// Goes on with what is there: `bytes` of it count, and `unwritten` follows them. The caller checks that
  /// they belong to it, then calls cut_off().
  ByteSink(const std::string& path, std::size_t frame_bytes, std::uint64_t bytes, std::string unwritten);

  const std::string& name() const { return name_; }  ///< for messages
  bool is_standard_output() const { return is_standard_output_; }

  std::string buffer;  ///< to be appended to, and flushed now and then
  void flush();        ///< all of the buffer; throws Interrupted, ClosedPipe or Error, and keeps the rest
  void sync();         ///< flush, and to the disk
  std::uint64_t bytes() const { return bytes_; }  ///< flushed

  /// See StreamWriter::interrupt_by().
  void interrupt_by(int descriptor);

  bool can_patch() const { return start_ >= 0; }
  void patch(std::string_view header);                              ///< the first bytes anew
  std::string read_back(std::uint64_t at, std::size_t most) const;  ///< what is in the file; less at its end
  std::uint64_t file_size() const;  ///< throws Error if it is not a regular file
  void cut_off();                   ///< what is in the file after bytes()

 private:
  std::size_t next_part(std::size_t from) const;
  void wait_for_reader();

  std::string name_;
  bool is_standard_output_;
  Descriptor file_;
  std::size_t frame_bytes_;
  std::int64_t start_ = -1;  // of the header, in the file; -1 = it cannot be patched
  int interrupt_ = -1;       // a descriptor; -1 = none, or the output is a regular file
  std::uint64_t bytes_ = 0;
};

}  // namespace demix::io
