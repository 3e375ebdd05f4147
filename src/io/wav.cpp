#include "io/wav.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/bytes.hpp"

namespace demix::io::wav {
namespace {

constexpr std::uint16_t pcm = 1;
constexpr std::uint16_t ieee_float = 3;
constexpr std::uint16_t extensible = 0xfffe;  // the tag is in an extension, with this after it
constexpr std::string_view extension("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);

double pcm8(const char* p) { return (load<std::uint8_t>(p) - 128) / 128.0; }
double pcm16(const char* p) { return load<std::int16_t>(p) / 32768.0; }
double pcm24(const char* p) {
  return (load<std::uint16_t>(p) + 65536 * load<std::int8_t>(p + 2)) / 8388608.0;
}
double pcm32(const char* p) { return load<std::int32_t>(p) / 2147483648.0; }

}  // namespace

bool parse_form(const char* bytes, const std::string& name) {
  const std::string_view form(bytes, 4);
  const bool large = form == "RF64" || form == "BW64";
  if (form == "RIFX") throw Error(name + ": is a big-endian WAV (RIFX); convert it to RIFF");
  if ((form != "RIFF" && !large) || std::string_view(bytes + 8, 4) != "WAVE")
    throw Error(name + ": is not a WAV file; its first bytes are not RIFF ... WAVE");
  return large;
}

ChunkHead parse_chunk_head(const char* bytes) {
  return {std::string(bytes, 4), load<std::uint32_t>(bytes + 4)};
}

std::uint64_t parse_large_size(const char* bytes) { return load<std::uint64_t>(bytes + 8); }

Format parse_format(std::string_view body, const std::string& name) {
  if (body.size() < 16) throw Error(name + ": the 'fmt ' chunk of the WAV header is too short");
  const char* p = body.data();
  auto tag = load<std::uint16_t>(p);
  const auto channels = load<std::uint16_t>(p + 2);
  const auto rate = load<std::uint32_t>(p + 4);
  const auto block = load<std::uint16_t>(p + 12);
  const auto bits = load<std::uint16_t>(p + 14);
  if (tag == extensible && body.size() >= format_bytes && body.substr(26, 14) == extension)
    tag = load<std::uint16_t>(p + 24);

  const auto decode = tag == pcm && bits == 8           ? pcm8
                      : tag == pcm && bits == 16        ? pcm16
                      : tag == pcm && bits == 24        ? pcm24
                      : tag == pcm && bits == 32        ? pcm32
                      : tag == ieee_float && bits == 32 ? load_real<float>
                      : tag == ieee_float && bits == 64 ? load_real<double>
                                                        : nullptr;
  if (decode == nullptr) {
    throw Error(name + ": WAV format " + std::to_string(tag) + " with " + std::to_string(bits) +
                " bits is not supported; use PCM of 8, 16, 24 or 32 bits or float of 32 or 64");
  }
  if (channels == 0) throw Error(name + ": the WAV header says there are no channels; it is damaged");
  const std::size_t sample_bytes = bits / 8;
  if (block != channels * sample_bytes) {
    throw Error(name + ": the WAV header says " + std::to_string(block) + " bytes per frame, but " +
                std::to_string(channels) + " channels of " + std::to_string(bits) + " bits; it is damaged");
  }
  return {channels, rate, sample_bytes, decode};
}

std::uint64_t data_bytes(std::uint32_t size, std::uint64_t large_size, bool all_there) {
  if (size == unknown_size && large_size > 0) return large_size;
  // Besides 0 and all ones, just below 2 GiB is common in pipes.
  const bool unknown =
      size == 0 || size == unknown_size || (size >= 0x7fff0000 && size <= 0x80000000 && !all_there);
  return unknown ? std::numeric_limits<std::uint64_t>::max() : size;
}

void check_layout(const FrameLayout& layout, const std::string& name) {
  if (!(layout.rate >= 1 && layout.rate < unknown_size) || layout.rate != std::floor(layout.rate)) {
    throw Error(name + ": a WAV file needs a whole number of frames per second; give the rate, " +
                "or write another format");
  }
  if (layout.channels > 0xffff / 4) {
    throw Error(name + ": a WAV file holds at most 16383 channels, not " + std::to_string(layout.channels) +
                "; write another format");
  }
}

// Formats other than PCM have an extension size (none here) in 'fmt ' and the number of frames in 'fact'.
std::string header(const FrameLayout& layout, std::uint32_t data_bytes) {
  const auto frame_bytes = static_cast<std::uint32_t>(layout.channels) * 4;
  const bool known = data_bytes != unknown_size;
  const auto rate = static_cast<std::uint32_t>(layout.rate);
  std::string h = "RIFF";
  store(h, known ? data_bytes + static_cast<std::uint32_t>(header_bytes - 8) : unknown_size);
  h += "WAVEfmt ";
  store<std::uint32_t>(h, 18);
  store(h, ieee_float);
  store(h, static_cast<std::uint16_t>(layout.channels));
  store(h, rate);
  store(h,
        static_cast<std::uint32_t>(std::min<std::uint64_t>(std::uint64_t{rate} * frame_bytes, 0xffffffff)));
  store(h, static_cast<std::uint16_t>(frame_bytes));
  store<std::uint16_t>(h, 32);
  store<std::uint16_t>(h, 0);
  h += "fact";
  store<std::uint32_t>(h, 4);
  store(h, known ? data_bytes / frame_bytes : unknown_size);
  h += "data";
  store(h, data_bytes);
  return h;
}

// Of 16-bit numbers, which any player plays.
std::string header16(std::uint16_t channels, std::uint32_t rate, std::uint32_t data_bytes) {
  const auto frame_bytes = static_cast<std::uint16_t>(2 * channels);
  std::string h = "RIFF";
  store(h, data_bytes + 36);
  h += "WAVEfmt ";
  store<std::uint32_t>(h, 16);
  store(h, pcm);
  store(h, channels);
  store(h, rate);
  store(h, rate * frame_bytes);
  store(h, frame_bytes);
  store<std::uint16_t>(h, 16);
  h += "data";
  store(h, data_bytes);
  return h;
}

void forget_lengths(std::string& header) {
  for (const std::size_t at : {4, 46, 54}) header.replace(at, 4, 4, '\xff');  // RIFF, fact, data
}

}  // namespace demix::io::wav

namespace demix::io {

std::string to_wav16(const Frames<double>& samples, double rate) {
  wav::check_layout({FrameFormat::wav, samples.rows(), rate, {}}, "a sound");
  const std::uint64_t bytes = 2 * static_cast<std::uint64_t>(samples.size());
  if (bytes > wav::unknown_size - 36) throw Error("a sound: longer than a WAV file can be");
  std::string out = wav::header16(static_cast<std::uint16_t>(samples.rows()),
                                  static_cast<std::uint32_t>(rate), static_cast<std::uint32_t>(bytes));
  for (const double v : samples.reshaped()) {
    store(out, static_cast<std::int16_t>(std::lround(32767 * std::clamp(v, -1.0, 1.0))));
  }
  return out;
}

}  // namespace demix::io
