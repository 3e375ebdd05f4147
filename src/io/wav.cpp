#include "io/wav.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "io/bytes.hpp"
#include "io/text_line.hpp"

namespace demix::io::wav {
namespace {

constexpr std::size_t format_bytes = 40;  // of 'fmt ', at most
constexpr std::uint16_t pcm = 1;
constexpr std::uint16_t ieee_float = 3;
constexpr std::uint16_t extensible = 0xfffe;  // the tag is in an extension, with this after it
constexpr std::string_view extension("\x00\x00\x00\x00\x10\x00\x80\x00\x00\xaa\x00\x38\x9b\x71", 14);

// Until so many bytes of the header are ahead.
void need(ByteStream& in, std::size_t bytes) {
  while (in.ahead().size() < bytes) {
    if (in.is_over()) throw Error(in.name() + ": ends within its header; it is cut off or not a WAV file");
    in.fill_or_throw();
  }
}

std::string take(ByteStream& in, std::size_t bytes) {
  need(in, bytes);
  std::string taken(in.ahead().substr(0, bytes));
  in.take(bytes);
  return taken;
}

void drop(ByteStream& in, std::uint64_t bytes) {
  while (bytes > 0) {
    need(in, 1);
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes, in.ahead().size()));
    in.take(now);
    bytes -= now;
  }
}

// Whether the size of the data is in a chunk of its own, 'ds64'.
bool read_form(ByteStream& in) {
  const std::string start = take(in, 12);
  const std::string form = start.substr(0, 4);
  const bool large = form == "RF64" || form == "BW64";
  if (form == "RIFX") throw Error(in.name() + ": is a big-endian WAV (RIFX); convert it to RIFF");
  if ((form != "RIFF" && !large) || start.substr(8) != "WAVE")
    throw Error(in.name() + ": is not a WAV file; its first bytes are not RIFF ... WAVE");
  return large;
}

// `all_there`: so many are there for sure.
std::uint64_t data_bytes(std::uint32_t size, std::uint64_t large_size, bool all_there) {
  if (size == unknown_size && large_size > 0) return large_size;
  // Besides 0 and all ones, just below 2 GiB is common in pipes.
  const bool unknown =
      size == 0 || size == unknown_size || (size >= 0x7fff0000 && size <= 0x80000000 && !all_there);
  return unknown ? unlimited : size;
}

}  // namespace

Header read_header(ByteStream& in) {
  constexpr std::size_t large_sizes_bytes = 16;  // of 'ds64', at least
  const bool large = read_form(in);
  Header header;
  bool found = false;
  std::uint64_t large_size = 0;
  for (;;) {
    const std::string head = take(in, 8);
    const std::string id = head.substr(0, 4);
    const auto size = load<std::uint32_t>(head.data() + 4);
    if (id == "data") {
      if (!found) throw Error(in.name() + ": the WAV header has no 'fmt ' chunk before its data");
      header.data_bytes = data_bytes(size, large_size, in.left() >= size);
      return header;
    }
    std::size_t taken = 0;
    if (id == "fmt ") {
      taken = std::min<std::size_t>(size, format_bytes);
      header.format = take(in, taken);
      found = true;
    } else if (large && id == "ds64" && size >= large_sizes_bytes) {
      taken = large_sizes_bytes;
      large_size = load<std::uint64_t>(take(in, taken).data() + 8);
    }
    drop(in, std::uint64_t{size} - taken + size % 2);
  }
}

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

  const NumberType type = tag == pcm          ? full_scale_type(bits)
                          : tag == ieee_float ? number_type('f', bits / 8)
                                              : NumberType{};
  if (type.decode == nullptr || type.bytes * 8 != bits) {
    throw Error(name + ": WAV format " + std::to_string(tag) + " with " + std::to_string(bits) +
                " bits is not supported; use PCM of 8, 16, 24 or 32 bits or float of 32 or 64");
  }
  if (channels == 0) throw Error(name + ": the WAV header says there are no channels; it is damaged");
  if (block != channels * type.bytes) {
    throw Error(name + ": the WAV header says " + std::to_string(block) + " bytes per frame, but " +
                std::to_string(channels) + " channels of " + std::to_string(bits) + " bits; it is damaged");
  }
  return {channels, rate, type};
}

void require_whole(const std::string& path) {
  ByteStream in(path);
  const Header header = read_header(in);
  const std::uint64_t there = in.left();
  if (header.data_bytes != unlimited && header.data_bytes > there) {
    throw Error(path + ": ends " + std::to_string(header.data_bytes - there) +
                " bytes before its header says; it is cut off");
  }
  const std::size_t frame_bytes =
      header.format.size() >= 16 ? load<std::uint16_t>(header.format.data() + 12) : 0;
  const std::uint64_t over = frame_bytes > 0 ? std::min(header.data_bytes, there) % frame_bytes : 0;
  if (over == 0) return;
  throw Error(path + ": ends with " + std::to_string(over) + " bytes of a frame of " +
              std::to_string(frame_bytes) + "; it is cut off, or has another number of channels");
}

void check_info(const SignalInfo& info, const std::string& name) {
  if (!(info.rate >= 1 && info.rate < unknown_size) || info.rate != std::floor(info.rate)) {
    throw Error(name + ": a WAV file needs a whole number of frames per second; give the rate, " +
                "or write another format");
  }
  if (info.channels > 0xffff / 4) {
    throw Error(name + ": a WAV file holds at most 16383 channels, not " + std::to_string(info.channels) +
                "; write another format");
  }
}

// Formats other than PCM have an extension size (none here) in 'fmt ' and the number of frames in 'fact'.
std::string header(const SignalInfo& info, std::uint32_t data_bytes) {
  const auto frame_bytes = static_cast<std::uint32_t>(info.channels) * 4;
  const bool known = data_bytes != unknown_size;
  const auto rate = static_cast<std::uint32_t>(info.rate);
  std::string h = "RIFF";
  store(h, known ? data_bytes + static_cast<std::uint32_t>(header_bytes - 8) : unknown_size);
  h += "WAVEfmt ";
  store<std::uint32_t>(h, 18);
  store(h, ieee_float);
  store(h, static_cast<std::uint16_t>(info.channels));
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

std::unique_ptr<FrameDecoder> decode_wav(ByteStream& bytes, const ReadOptions& asked) {
  const wav::Header header = wav::read_header(bytes);
  const wav::Format format = wav::parse_format(header.format, bytes.name());
  if (format.rate > 0 && asked.rate > 0 && asked.rate != format.rate) {
    std::string rate;
    append_number(rate, asked.rate);
    throw Error(bytes.name() + ": has " + std::to_string(format.rate) + " frames per second where " + rate +
                " were asked for");
  }
  SignalInfo info;
  info.channels = format.channels;
  info.rate = format.rate > 0 ? format.rate : asked.rate;
  return decode_numbers(bytes, format.type, std::move(info), header.data_bytes);
}

std::string to_wav16(const Frames<double>& samples, double rate) {
  SignalInfo info;
  info.channels = samples.rows();
  info.rate = rate;
  wav::check_info(info, "a sound");
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
