#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demix/io.hpp"
#include "demix/types.hpp"

/// Live streams, frame by frame, from files, pipes and standard input to the same. A frame is given out as
/// soon as its last byte has arrived, and memory does not grow with the length of the stream.
namespace demix::io {

/// f32, f64: raw little-endian numbers, interleaved; s16, s32: whole numbers, of which the largest is read as
/// 1; wav: RIFF WAVE; csv: text, one frame per line.
enum class FrameFormat { f32, f64, s16, s32, wav, csv };

std::string_view frame_format_name(FrameFormat format);
FrameFormat frame_format_named(std::string_view name);  ///< throws std::invalid_argument listing the names
/// By extension: .f32, .f64, .s16, .s32, .wav, .csv. Nothing for others, as .raw does not say what its
/// numbers are.
std::optional<FrameFormat> frame_format_of(const std::filesystem::path& path);

struct FrameLayout {
  FrameFormat format = FrameFormat::f32;
  Index channels = 0;              ///< 0 = unknown
  double rate = 0;                 ///< frames per second; 0 = unknown
  std::vector<std::string> names;  ///< one per channel, or empty
  char delimiter = 0;              ///< of text; 0 = found while reading, a comma to write
};

/// A signal came while waiting for input, where there is no frame count to return instead, or for whoever
/// reads the output.
struct Interrupted : Error {
  using Error::Error;
};

/// Whoever read the output has gone. (The program has to ignore SIGPIPE to live to see this.)
struct ClosedPipe : Error {
  using Error::Error;
};

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
  ~Descriptor();
  int get() const { return fd_; }

 private:
  int fd_;
  bool owned_;
};

class FrameReader {
 public:
  /// `name` is a path, or "-" for standard input. Reads as far as needed to know the layout: a WAV's header,
  /// the first line of text that counts. What is asked for must not contradict what the input says; raw
  /// formats say nothing, so `asked.channels` must be given.
  FrameReader(const std::string& name, FrameLayout asked);

  const FrameLayout& layout() const { return layout_; }
  int fd() const { return file_.get(); }  ///< to poll(2) for input when nothing is at hand

  /// Whether read() has something to say without waiting for input: a whole frame, or what is wrong with it.
  bool at_hand() const;

  /// At most out.cols() whole frames, into the first columns; returns how many. Waits only while there is not
  /// one whole frame. 0: the end, or a signal (then ended() is false). What is wrong with a frame is thrown
  /// once all frames before it have been given out, as is a file's end before its header says. (A pipe may
  /// end whenever it likes.)
  Index read(Eigen::Ref<Matrix<double>> out);

  bool ended() const { return ended_; }  ///< no frame is left; may be known along with the last frames

  /// Drops as many frames; throws if the input ends before. Seeks where it can.
  void skip(std::int64_t frames);

 private:
  void read_wav_header();
  void read_wav_format(std::uint32_t size);
  void read_first_line();
  bool fill();
  void fill_or_throw();
  void need(std::size_t bytes);
  void drop(std::uint64_t bytes);
  std::uint64_t whole_frames() const;
  void take_frames(std::uint64_t frames);
  void take_line();
  void find_line();
  void settle();
  bool is_cut_off() const;
  std::string parse_line(double* frame);
  bool seek_over(std::uint64_t frames);
  std::uint64_t bytes_there() const;

  std::string name_;  // for messages
  FrameLayout layout_;
  Descriptor file_;
  std::vector<char> buffer_;  // [begin_, end_) has been read but not given out
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool input_over_ = false;
  bool is_file_ = false;  // else it is a pipe, or another thing of no known length
  bool ended_ = false;

  double (*decode_)(const char*) = nullptr;  // binary formats: one sample
  std::size_t sample_bytes_ = 0;
  std::size_t frame_bytes_ = 0;
  std::uint64_t left_ = std::numeric_limits<std::uint64_t>::max();  // bytes of samples still to give out

  char delimiter_ = ',';  // text
  std::size_t line_number_ = 1;
  std::size_t line_bytes_ = 0;  // of the next line that counts, with its end; 0 = not all there
  std::size_t searched_ = 0;    // bytes known to hold no end of line, so that long lines are searched once
  std::vector<std::string_view> fields_;
};

class FrameWriter {
 public:
  /// How far it has come.
  struct Written {
    std::uint64_t bytes = 0;   ///< flushed, with the header
    std::int64_t frames = -1;  ///< in these and in `unwritten`; -1 = not known
    std::string unwritten;     ///< what follows them but has not been flushed
  };

  /// `name` is a path, created or truncated, or "-" for standard output. The header, if any, is written at
  /// once. WAV holds 32-bit floats, and no lengths until finish().
  FrameWriter(const std::string& name, FrameLayout layout);

  /// Goes on with an existing file where written() was, as if it had never been closed; what follows is cut
  /// off. Throws if the file does not hold what was written. Standard output is taken to be there already.
  static FrameWriter resume(const std::string& name, FrameLayout layout, const Written& written);

  const FrameLayout& layout() const { return layout_; }

  /// From now on, waiting for whoever reads the output ends when `descriptor` can be read: flush() throws
  /// Interrupted if the reader takes nothing for a second more. What it had not taken is unwritten, from the
  /// start of a frame on (of frames of at most 4096 bytes). Regular files are not waited for.
  void interrupt_by(int descriptor);

  /// Buffered, up to about 64 KiB; what cannot be flushed stays unwritten, to the last frame. As 32-bit
  /// floats, what is too large becomes the largest float; as whole numbers, the largest of them, and NaN 0.
  void write(const Frames<double>& Y);
  void flush();   ///< everything to the descriptor; throws Interrupted, ClosedPipe or Error
  void sync();    ///< flush, and to the disk
  void finish();  ///< flush, and the lengths into a WAV's header where the output can seek (and has < 4 GiB)

  Written written() const { return {bytes_, frames_, buffer_}; }
  std::uint64_t bytes() const { return bytes_; }  ///< Written::bytes. Destruction drops what is unwritten

 private:
  FrameWriter(const std::string& name, FrameLayout layout, const Written& written);  // resume()
  std::size_t frame_bytes() const;
  void require_whole(const Written& written) const;
  void wait_for_reader();
  std::size_t next_part(std::size_t from) const;
  void patch(const std::string& header);

  std::string name_;  // for messages
  FrameLayout layout_;
  std::string header_;
  Descriptor file_;
  std::int64_t header_at_ = -1;  // where in the file; -1 = it cannot be patched
  int interrupt_ = -1;           // a descriptor; -1 = none, or the output is a regular file
  Vector<float> single_;         // a frame
  std::string buffer_;
  std::uint64_t bytes_ = 0;
  std::int64_t frames_ = 0;  // -1 = not known
};

}  // namespace demix::io
