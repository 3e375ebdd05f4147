#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "io/frame_decoder.hpp"

/// The WAV format: 'RIFF', a length, 'WAVE'; then chunks, each a name, a length and a body, padded to an even
/// length. 'fmt ' tells what the samples are, 'data' holds them. `name` is only for messages.
///
/// Whole files are read by libsndfile (sound.cpp). By hand is done what a pipe needs, where nothing can be
/// sought, and what a stream writes, which has to go on after a kill.
namespace demix::io::wav {

constexpr std::uint32_t unknown_size = 0xffffffff;  ///< who streams does not know it

// To read.

/// What a file's header says.
struct Header {
  std::string format;                    ///< the body of 'fmt ', or its first 40 bytes
  std::uint64_t data_bytes = unlimited;  ///< of samples; unlimited: all that come
};
/// Takes the header, up to the first sample. Throws if it is none.
Header read_header(ByteStream& bytes);

struct Format {
  std::uint16_t channels = 0;
  std::uint32_t rate = 0;  ///< frames per second
  NumberType type;         ///< of a sample; full scale is 1
};
Format parse_format(std::string_view body, const std::string& name);

/// Throws if a file ends before its header says, or within a frame.
void require_whole(const std::string& path);

// To write: 32-bit floats.

constexpr std::size_t header_bytes = 58;

void check_info(const SignalInfo& info, const std::string& name);  ///< throws if WAV cannot hold it
std::string header(const SignalInfo& info, std::uint32_t data_bytes);
std::string header16(std::uint16_t channels, std::uint32_t rate, std::uint32_t data_bytes);
void forget_lengths(std::string& header);  ///< as if data_bytes had been unknown_size

}  // namespace demix::io::wav
