#pragma once

#include <limits>
#include <memory>

#include "demix/signal_stream.hpp"
#include "io/byte_stream.hpp"
#include "io/numbers.hpp"

/// What a stream's bytes mean: frames, as far as the bytes that are ahead hold whole ones.
namespace demix::io {

class FrameDecoder {
 public:
  using State = StreamReader::State;
  explicit FrameDecoder(ByteStream& bytes) : bytes_(bytes) {}
  virtual ~FrameDecoder() = default;

  SignalInfo info;

  virtual bool fill() { return bytes_.fill(); }  ///< as ByteStream::fill()
  virtual State state() = 0;                     ///< after bytes were read or taken
  /// When frames are at hand: as many as there are whole, at most out.cols(). Throws what is wrong with the
  /// first.
  virtual Index decode(Eigen::Ref<Matrix<double>> out) = 0;
  /// Drops at most so many frames that are there for sure; returns how many.
  virtual std::uint64_t drop(std::uint64_t frames) = 0;

 protected:
  const std::string& name() const { return bytes_.name(); }
  ByteStream& bytes_;
};

/// Numbers of one type, frame after frame. `left`: bytes of them, if the input says; else all that come.
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
std::unique_ptr<FrameDecoder> decode_numbers(ByteStream& bytes, const NumberType& type, SignalInfo info,
                                             std::uint64_t left = unlimited);

/// RIFF WAVE: a header, then numbers.
std::unique_ptr<FrameDecoder> decode_wav(ByteStream& bytes, const ReadOptions& asked);

/// Text, one frame per line, separated by comma, semicolon, tab or blanks (whichever the first line has),
/// with or without a line of names on top. Empty lines and lines that begin with # are skipped.
std::unique_ptr<FrameDecoder> decode_text(ByteStream& bytes, const ReadOptions& asked);

}  // namespace demix::io
