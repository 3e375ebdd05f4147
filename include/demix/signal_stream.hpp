#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "demix/signal_files.hpp"

/// Frames as they come, from files, pipes and standard input to the same. A frame is given out as soon as its
/// last byte has arrived, and memory does not grow with the length of the stream.
namespace demix::io {

/// A signal came while waiting for input, where there is no frame count to return instead, or for whoever
/// reads the output.
struct Interrupted : Error {
  using Error::Error;
};

/// Whoever read the output has gone. (The program has to ignore SIGPIPE to live to see this.)
struct ClosedPipe : Error {
  using Error::Error;
};

class ByteStream;
class FrameDecoder;
class ByteSink;

class StreamReader final : public SignalReader {
 public:
  /// `name` is a path, or "-" for standard input. Reads as far as needed to know what is in it: a WAV's
  /// header, the first line of text that counts. What is asked for must not contradict what the input says;
  /// raw numbers say nothing, so `asked.channels` must be given.
  StreamReader(const std::string& name, Encoding encoding, const ReadOptions& asked = {});
  ~StreamReader() override;
  StreamReader(StreamReader&&) noexcept;
  StreamReader& operator=(StreamReader&&) noexcept;

  const SignalInfo& info() const override;  ///< `frames` is known of files of raw numbers and WAV files
  Encoding encoding() const { return encoding_; }
  int fd() const;  ///< to poll(2) for input when nothing is at hand
  /// How much of a file has been given out, 0 to 1; nothing where the length is not known.
  std::optional<double> progress() const;

  /// Whether read_some() has something to say without waiting for input: a whole frame, or what is wrong with
  /// it.
  bool at_hand() const { return state_ == State::at_hand; }

  /// At most out.cols() whole frames, into the first columns; returns how many. Waits only while there is not
  /// one whole frame. 0: the end, or a signal (then ended() is false). What is wrong with a frame is thrown
  /// once all frames before it have been given out, as is a file's end before its header says. (A pipe may
  /// end whenever it likes.)
  Index read_some(Eigen::Ref<Matrix<double>> out);

  bool ended() const { return state_ == State::ended; }  ///< may be known along with the last frames

  /// Drops as many frames; throws if the input ends before. Seeks where it can.
  void skip(std::int64_t frames);

  Index read(Eigen::Ref<Matrix<double>> out) override;  ///< as many frames as fit, unless it ends
  void rewind() override;                               ///< files only

 private:
  friend class FrameDecoder;
  enum class State { waiting, at_hand, ended };
  void open();

  std::string path_;
  Encoding encoding_;
  ReadOptions asked_;
  std::unique_ptr<ByteStream> bytes_;      // where they come from
  std::unique_ptr<FrameDecoder> decoder_;  // what they mean
  State state_ = State::waiting;
  bool any_ = false;  // a frame was given out
};

class StreamWriter final : public SignalWriter {
 public:
  /// How far it has come.
  struct Written {
    std::uint64_t bytes = 0;   ///< flushed, with the header
    std::int64_t frames = -1;  ///< in these and in `unwritten`; -1 = not known
    std::string unwritten;     ///< what follows them but has not been flushed
  };

  /// `name` is a path, created or truncated, or "-" for standard output. The header, if any, is written at
  /// once. WAV holds 32-bit floats, and no lengths until finish().
  StreamWriter(const std::string& name, Encoding encoding, SignalInfo info);
  ~StreamWriter() override;
  StreamWriter(StreamWriter&&) noexcept;
  StreamWriter& operator=(StreamWriter&&) noexcept;

  /// Goes on with an existing file where written() was, as if it had never been closed; what follows is cut
  /// off. Throws if the file does not hold what was written. Standard output is taken to be there already.
  static StreamWriter resume(const std::string& name, Encoding encoding, SignalInfo info,
                             const Written& written);

  Encoding encoding() const { return encoding_; }

  /// From now on, waiting for whoever reads the output ends when `descriptor` can be read: flush() throws
  /// Interrupted if the reader takes nothing for a second more. What it had not taken is unwritten, from the
  /// start of a frame on (of frames of at most 4096 bytes). Regular files are not waited for.
  void interrupt_by(int descriptor);

  /// Buffered, up to about 64 KiB; what cannot be flushed stays unwritten, to the last frame. As 32-bit
  /// floats, what is too large becomes the largest float; as whole numbers, the largest of them, and NaN 0.
  void write(const Frames<double>& Y) override;
  void flush();  ///< everything to the descriptor; throws Interrupted, ClosedPipe or Error
  void sync();   ///< flush, and to the disk
  /// Flush, and the lengths into a WAV's header where the output can seek (and has < 4 GiB).
  void finish() override;

  /// Of all written by this object: values beyond full scale, as whole numbers.
  std::int64_t clipped() const { return clipped_; }

  Written written() const;
  std::uint64_t bytes() const;  ///< Written::bytes. Destruction drops what is unwritten

 private:
  StreamWriter(const std::string& name, Encoding encoding, SignalInfo info, const Written& written);
  void require_whole(const Written& written) const;

  Encoding encoding_;
  SignalInfo info_;
  std::string header_;
  std::unique_ptr<ByteSink> bytes_;  // where they go
  std::int64_t frames_ = 0;          // -1 = not known
  std::int64_t clipped_ = 0;
};

}  // namespace demix::io
