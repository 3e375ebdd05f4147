#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "demix/frame_io.hpp"

/// The WAV format: 'RIFF', a length, 'WAVE'; then chunks, each a name, a length and a body, padded to an even
/// length. 'fmt ' tells what the samples are, 'data' holds them. `name` is only for messages.
namespace demix::io::wav {

constexpr std::uint32_t unknown_size = 0xffffffff;  ///< who streams does not know it

// To read.

constexpr std::size_t form_bytes = 12;
constexpr std::size_t chunk_head_bytes = 8;
constexpr std::size_t format_bytes = 40;       ///< of 'fmt ', at most
constexpr std::size_t large_sizes_bytes = 16;  ///< of 'ds64', at least

/// Whether the size of the data is in a chunk of its own, 'ds64'. Throws if it is not a WAV file.
bool parse_form(const char* bytes, const std::string& name);

struct ChunkHead {
  std::string id;
  std::uint32_t size = 0;

  bool odd() const { return size % 2 != 0; }  ///< then there is one byte more
};
ChunkHead parse_chunk_head(const char* bytes);

std::uint64_t parse_large_size(const char* bytes);  ///< of the data, from the body of 'ds64'

struct Format {
  std::uint16_t channels = 0;
  std::uint32_t rate = 0;  ///< frames per second
  std::size_t sample_bytes = 0;
  double (*decode)(const char*) = nullptr;  ///< one sample; full scale is 1
};
/// `body` is that of 'fmt ', or its first format_bytes.
Format parse_format(std::string_view body, const std::string& name);

/// How many bytes of samples follow: all that come, if the head of 'data' does not know. `all_there`: so many
/// are there for sure.
std::uint64_t data_bytes(std::uint32_t size, std::uint64_t large_size, bool all_there);

// To write: 32-bit floats.

constexpr std::size_t header_bytes = 58;

void check_layout(const FrameLayout& layout, const std::string& name);  ///< throws if WAV cannot hold it
std::string header(const FrameLayout& layout, std::uint32_t data_bytes);
std::string header16(std::uint16_t channels, std::uint32_t rate, std::uint32_t data_bytes);
void forget_lengths(std::string& header);  ///< as if data_bytes had been unknown_size

}  // namespace demix::io::wav
