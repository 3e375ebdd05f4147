#pragma once

#include <cstdint>
#include <string>
#include <vector>

/// PNG and TIFF files made by hand, byte by byte, as nobody's library would write them.
namespace demix::testing {

inline std::string big_endian(std::uint64_t value, int bytes) {
  std::string out;
  for (int k = bytes - 1; k >= 0; --k) out += static_cast<char>(value >> (8 * k));
  return out;
}

inline std::string little_endian(std::uint64_t value, int bytes) {
  const std::string big = big_endian(value, bytes);
  return {big.rbegin(), big.rend()};
}

inline std::string png_chunk(const std::string& type, const std::string& data) {
  std::uint32_t crc = ~0U;
  for (const char c : type + data) {
    crc ^= static_cast<unsigned char>(c);
    for (int k = 0; k < 8; ++k) crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0xedb88320U : 0U);
  }
  return big_endian(data.size(), 4) + type + data + big_endian(~crc, 4);
}

/// zlib's format, stored as it is; at most 65535 bytes.
inline std::string stored(const std::string& data) {
  std::uint32_t a = 1;
  std::uint32_t b = 0;
  for (const char c : data) {
    a = (a + static_cast<unsigned char>(c)) % 65521;
    b = (b + a) % 65521;
  }
  return "\x78\x01\x01" + little_endian(data.size(), 2) + little_endian(~data.size(), 2) + data +
         big_endian(b << 16 | a, 4);
}

struct PngFile {
  std::uint32_t width = 1, height = 1;
  int bits = 8;
  int kind = 0;  ///< 0 grey, 2 RGB, 3 palette, 4 grey and alpha, 6 RGBA
  bool interlaced = false;
  std::string chunks{};                ///< between the header and the pixels: PLTE, tRNS
  std::vector<std::uint16_t> samples;  ///< of all pixels, row by row

  int per_pixel() const { return kind == 2 ? 3 : kind == 4 ? 2 : kind == 6 ? 4 : 1; }

  /// Every dx-th pixel of a row from x on, behind its filter byte.
  std::string row(std::uint32_t y, std::uint32_t x, std::uint32_t dx) const {
    std::string out(1, '\0');
    unsigned filled = 0;
    unsigned pending = 0;
    for (; x < width; x += dx) {
      for (int k = 0; k < per_pixel(); ++k) {
        const std::uint16_t v = samples[static_cast<std::size_t>((y * width + x) * per_pixel() + k)];
        pending = pending << bits | v;
        filled += bits;
        for (; filled >= 8; filled -= 8) out += static_cast<char>(pending >> (filled - 8));
      }
    }
    if (filled > 0) out += static_cast<char>(pending << (8 - filled));
    return out;
  }

  std::string pixels() const {
    struct Pass {
      std::uint32_t x, y, dx, dy;
    };
    const std::vector<Pass> adam7 = {{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4},
                                     {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}};
    std::string out;
    for (const Pass& p : interlaced ? adam7 : std::vector<Pass>{{0, 0, 1, 1}}) {
      for (std::uint32_t y = p.y; y < height && p.x < width; y += p.dy) out += row(y, p.x, p.dx);
    }
    return out;
  }

  std::string head() const {
    const std::string fields{static_cast<char>(bits), static_cast<char>(kind), 0, 0,
                             static_cast<char>(interlaced)};
    return "\x89PNG\r\n\x1a\n" + png_chunk("IHDR", big_endian(width, 4) + big_endian(height, 4) + fields) +
           chunks;
  }
  std::string bytes() const { return head() + png_chunk("IDAT", stored(pixels())) + png_chunk("IEND", ""); }
};

/// Little-endian, without compression, every part (strip or tile of a plane) given.
struct TiffFile {
  std::uint32_t width = 1, height = 1;
  int bits = 8, samples = 1;
  int photometric = 1;  ///< 0 white is 0, 1 black is 0, 2 RGB, 3 palette, 5 CMYK
  int format = 1;       ///< 1 unsigned, 2 signed, 3 float
  bool apart = false;   ///< the planes
  std::uint32_t tile = 0;
  std::vector<std::string> parts;
  std::vector<std::uint16_t> palette{};
  int extra = -1;     ///< kind of the samples beyond the colours: 0 unknown, 2 alpha
  bool more = false;  ///< another page, the same

  std::string bytes() const {
    std::string out = "II" + little_endian(42, 2) + std::string(4, '\0');
    std::vector<std::uint32_t> at, sizes;
    for (const std::string& part : parts) {
      at.push_back(static_cast<std::uint32_t>(out.size()));
      sizes.push_back(static_cast<std::uint32_t>(part.size()));
      out += part;
    }
    std::string entries;
    int count = 0;
    const auto entry = [&](int tag, int type, const auto& values) {
      std::string data;
      for (const auto v : values) data += little_endian(static_cast<std::uint64_t>(v), type == 3 ? 2 : 4);
      entries += little_endian(static_cast<std::uint64_t>(tag), 2) +
                 little_endian(static_cast<std::uint64_t>(type), 2) + little_endian(values.size(), 4);
      if (data.size() > 4) {
        entries += little_endian(out.size(), 4);
        out += data + std::string(data.size() % 2, '\0');
      } else {
        entries += data + std::string(4 - data.size(), '\0');
      }
      ++count;
    };
    using Values = std::vector<std::uint32_t>;
    const auto n = static_cast<std::size_t>(samples);
    entry(256, 4, Values{width});
    entry(257, 4, Values{height});
    entry(258, 3, std::vector<int>(n, bits));
    entry(259, 3, Values{1});
    entry(262, 3, std::vector<int>{photometric});
    if (tile == 0) entry(273, 4, at);
    entry(277, 3, std::vector<int>{samples});
    if (tile == 0) {
      entry(278, 4, Values{height});
      entry(279, 4, sizes);
    }
    entry(284, 3, Values{apart ? 2U : 1U});
    if (!palette.empty()) entry(320, 3, palette);
    if (tile > 0) {
      entry(322, 4, Values{tile});
      entry(323, 4, Values{tile});
      entry(324, 4, at);
      entry(325, 4, sizes);
    }
    if (extra >= 0) entry(338, 3, std::vector<int>{extra});
    entry(339, 3, std::vector<int>(n, format));
    const std::string directory = little_endian(static_cast<std::uint64_t>(count), 2) + entries;
    out.resize(out.size() + out.size() % 2);
    out.replace(4, 4, little_endian(out.size(), 4));
    if (more) out += directory + little_endian(out.size() + directory.size() + 4, 4);
    return out + directory + std::string(4, '\0');
  }
};

}  // namespace demix::testing
