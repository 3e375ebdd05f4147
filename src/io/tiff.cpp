#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstring>

#include "io/failure.hpp"
#include "io/picture.hpp"

#ifdef DEMIX_HAVE_TIFF
#include <tiffio.h>
#endif

/// TIFF: read through libtiff; what we write is so simple (no compression, one strip) that we do it.
namespace demix::io {
#ifdef DEMIX_HAVE_TIFF
namespace {

/// A file in memory, as libtiff reads it, and what it first complained of.
struct Source {
  std::string_view bytes;
  std::uint64_t at = 0;
  char message[200] = "";
};

Source& source(void* p) { return *static_cast<Source*>(p); }

tmsize_t read_bytes(thandle_t handle, void* to, tmsize_t count) {
  Source& s = source(handle);
  const std::string_view part =
      s.at < s.bytes.size() ? s.bytes.substr(s.at, static_cast<std::size_t>(count)) : std::string_view();
  part.copy(static_cast<char*>(to), part.size());
  s.at += part.size();
  return static_cast<tmsize_t>(part.size());
}
tmsize_t write_nothing(thandle_t, void*, tmsize_t) { return 0; }
toff_t seek(thandle_t handle, toff_t offset, int from) {
  Source& s = source(handle);
  s.at = offset + (from == SEEK_CUR ? s.at : from == SEEK_END ? s.bytes.size() : 0);
  return s.at;
}
toff_t size_of(thandle_t handle) { return source(handle).bytes.size(); }
int close_nothing(thandle_t) { return 0; }

int keep_error(TIFF*, void* user, const char*, const char* format, va_list values) {
  Source& s = source(user);
  if (s.message[0] == '\0') std::vsnprintf(s.message, sizeof s.message, format, values);
  return 1;
}
int ignore(TIFF*, void*, const char*, const char*, va_list) { return 1; }

struct CloseTiff {
  void operator()(TIFF* tiff) const { TIFFClose(tiff); }
};
using TiffHandle = std::unique_ptr<TIFF, CloseTiff>;

TiffHandle open(Source& s, const std::string& name) {
  constexpr tmsize_t most_at_once = tmsize_t{1} << 30;
  TIFFOpenOptions* options = TIFFOpenOptionsAlloc();
  TIFFOpenOptionsSetMaxSingleMemAlloc(options, most_at_once);
  TIFFOpenOptionsSetErrorHandlerExtR(options, keep_error, &s);
  TIFFOpenOptionsSetWarningHandlerExtR(options, ignore, nullptr);
  TiffHandle tiff(TIFFClientOpenExt(name.c_str(), "rm", &s, read_bytes, write_nothing, seek, close_nothing,
                                    size_of, nullptr, nullptr, options));
  TIFFOpenOptionsFree(options);
  return tiff;
}

template <typename T>
T field(TIFF* tiff, std::uint32_t tag, T missing = 0) {
  T value = missing;
  return TIFFGetFieldDefaulted(tiff, tag, &value) == 1 ? value : missing;
}

class TiffDecoder {
 public:
  TiffDecoder(std::string_view file, const std::string& name)
      : name_(name), source_{file}, tiff_(open(source_, name)) {
    check(tiff_ != nullptr);
  }

  DecodedPicture picture() {
    DecodedPicture p;
    p.width = field<std::uint32_t>(tiff(), TIFFTAG_IMAGEWIDTH);
    p.height = field<std::uint32_t>(tiff(), TIFFTAG_IMAGELENGTH);
    check_picture_size(p.width, p.height, source_.bytes.size(), name_);
    photometric_ = field<std::uint16_t>(tiff(), TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK);
    if (TIFFLastDirectory(tiff()) == 0) p.notes.push_back(name_ + ": has several pages; the first is read");
    if (describe_plain(p)) {
      if (TIFFIsTiled(tiff()) != 0) {
        read_tiles(p);
      } else {
        read_rows(p);
      }
      if (photometric_ == PHOTOMETRIC_MINISWHITE) {
        for (char& byte : p.bytes) byte = static_cast<char>(~byte);
      }
    } else {
      read_converted(p);
    }
    return p;
  }

 private:
  TIFF* tiff() const { return tiff_.get(); }
  bool is_grey() const {
    return photometric_ == PHOTOMETRIC_MINISBLACK || photometric_ == PHOTOMETRIC_MINISWHITE;
  }

  // Whether its values can be taken as they are; if so, what they are.
  bool describe_plain(DecodedPicture& p) const {
    const auto bits = field<std::uint16_t>(tiff(), TIFFTAG_BITSPERSAMPLE);
    const auto format = field<std::uint16_t>(tiff(), TIFFTAG_SAMPLEFORMAT);
    const bool whole = format == SAMPLEFORMAT_UINT && (bits == 8 || bits == 16);
    const bool real = format == SAMPLEFORMAT_IEEEFP && bits == 32 && photometric_ != PHOTOMETRIC_MINISWHITE;
    const Index samples = field<std::uint16_t>(tiff(), TIFFTAG_SAMPLESPERPIXEL);
    const Index colours = is_grey() ? 1 : 3;
    if (!(whole || real) || !(is_grey() || photometric_ == PHOTOMETRIC_RGB)) return false;
    if (samples < colours || samples > 4) return false;
    std::uint16_t extra = 0;
    const std::uint16_t* kinds = nullptr;
    TIFFGetFieldDefaulted(tiff(), TIFFTAG_EXTRASAMPLES, &extra, &kinds);
    p.has_alpha = extra > 0 && samples > colours && kinds[0] != EXTRASAMPLE_UNSPECIFIED;
    p.colours = colours;
    p.samples = samples;
    p.type = number_type(real ? 'f' : 'u', bits / 8U);
    p.white = real ? 1 : (1 << bits) - 1;
    return true;
  }

  // Planes apart: each by itself through the whole picture. `part` is what is stored together of a pixel.
  bool planes_apart() const {
    return field<std::uint16_t>(tiff(), TIFFTAG_PLANARCONFIG) == PLANARCONFIG_SEPARATE;
  }
  Index planes(const DecodedPicture& p) const { return planes_apart() ? p.samples : 1; }
  std::size_t part_bytes(const DecodedPicture& p) const {
    return planes_apart() ? p.type.bytes : p.pixel_bytes();
  }

  // `count` parts to the row y, from the column x on; memory is asked for when a row first comes.
  void place(DecodedPicture& p, const char* from, Index count, Index x, Index y, Index plane) const {
    const std::size_t end = static_cast<std::size_t>(y + 1) * p.row_bytes();
    if (p.bytes.size() < end) p.bytes.resize(end);
    const std::size_t part = part_bytes(p);
    char* to = p.bytes.data() + (end - p.row_bytes()) + static_cast<std::size_t>(x) * p.pixel_bytes() +
               static_cast<std::size_t>(plane) * p.type.bytes;
    if (part == p.pixel_bytes()) {
      std::memcpy(to, from, static_cast<std::size_t>(count) * part);
      return;
    }
    for (Index i = 0; i < count; ++i, to += p.pixel_bytes(), from += part) std::memcpy(to, from, part);
  }

  void read_rows(DecodedPicture& p) {
    const std::size_t bytes = static_cast<std::size_t>(p.width) * part_bytes(p);
    check(TIFFScanlineSize64(tiff()) == bytes);
    std::vector<char> row(bytes);
    for (Index plane = 0; plane < planes(p); ++plane) {
      for (Index y = 0; y < p.height; ++y) {
        check(TIFFReadScanline(tiff(), row.data(), static_cast<std::uint32_t>(y),
                               static_cast<std::uint16_t>(plane)) == 1);
        place(p, row.data(), p.width, 0, y, plane);
      }
    }
  }

  void read_tiles(DecodedPicture& p) {
    const Index width = field<std::uint32_t>(tiff(), TIFFTAG_TILEWIDTH);
    const Index height = field<std::uint32_t>(tiff(), TIFFTAG_TILELENGTH);
    check_picture_size(width, height, source_.bytes.size(), name_);
    const std::size_t row_bytes = static_cast<std::size_t>(width) * part_bytes(p);
    const std::size_t bytes = static_cast<std::size_t>(height) * row_bytes;
    check(TIFFTileSize64(tiff()) == bytes);
    std::vector<char> tile(bytes);
    for (Index plane = 0; plane < planes(p); ++plane) {
      for (Index top = 0; top < p.height; top += height) {
        for (Index left = 0; left < p.width; left += width) {
          check(TIFFReadTile(tiff(), tile.data(), static_cast<std::uint32_t>(left),
                             static_cast<std::uint32_t>(top), 0, static_cast<std::uint16_t>(plane)) >= 0);
          for (Index y = top; y < std::min(p.height, top + height); ++y) {
            place(p, tile.data() + static_cast<std::size_t>(y - top) * row_bytes,
                  std::min(width, p.width - left), left, y, plane);
          }
        }
      }
    }
  }

  // Palettes, YCbCr, few bits: libtiff makes 8-bit RGBA of them.
  void read_converted(DecodedPicture& p) {
    char reason[1024] = "";
    const auto bits = field<std::uint16_t>(tiff(), TIFFTAG_BITSPERSAMPLE);
    if (bits > 8 || photometric_ == PHOTOMETRIC_SEPARATED || TIFFRGBAImageOK(tiff(), reason) == 0) {
      throw Error(name_ + ": is a TIFF of an unusual kind; convert it to grey or RGB of 8 or 16 bits");
    }
    p.colours = is_grey() ? 1 : 3;
    p.samples = is_grey() ? 1 : 4;
    p.has_alpha = !is_grey();
    const std::size_t pixels = static_cast<std::size_t>(p.width) * static_cast<std::size_t>(p.height);
    const auto raster = std::make_unique_for_overwrite<std::uint32_t[]>(pixels);  // used as rows come
    const auto as_stored = field<std::uint16_t>(tiff(), TIFFTAG_ORIENTATION);
    check(TIFFReadRGBAImageOriented(tiff(), static_cast<std::uint32_t>(p.width),
                                    static_cast<std::uint32_t>(p.height), raster.get(), as_stored, 1) == 1);
    for (std::size_t i = 0; i < pixels; ++i) {
      const std::uint32_t rgba = raster[i];
      p.bytes.append(reinterpret_cast<const char*>(&rgba), static_cast<std::size_t>(p.samples));
    }
  }

  void check(bool went_well) const {
    if (!went_well)
      throw unreadable(name_, "TIFF", source_.message[0] != '\0' ? source_.message : "its sizes do not fit");
  }

  std::string name_;
  Source source_;
  TiffHandle tiff_;
  std::uint16_t photometric_ = 0;
};

}  // namespace

DecodedPicture decode_tiff(std::string_view file, const std::string& name) {
  return TiffDecoder(file, name).picture();
}
#else
DecodedPicture decode_tiff(std::string_view, const std::string& name) {
  throw built_without("libtiff (4.5 or later)", name, "TIFF files", ".png or .pgm");
}
#endif

namespace {

// Most significant byte first.
void append16(std::string& bytes, std::size_t value) {
  bytes.push_back(static_cast<char>(value >> 8));
  bytes.push_back(static_cast<char>(value & 0xff));
}
void append32(std::string& bytes, std::size_t value) {
  append16(bytes, value >> 16);
  append16(bytes, value & 0xffff);
}

// The head of the file, then the one directory; the pixels follow it.
std::string header(const PictureShape& shape) {
  constexpr std::size_t short_type = 3;
  constexpr std::size_t long_type = 4;
  constexpr std::size_t entries = 10;
  const auto colours = static_cast<std::size_t>(shape.colours);
  const auto height = static_cast<std::size_t>(shape.height);
  const std::size_t after = 8 + 2 + 12 * entries + 4;  // bits of each colour, where one entry has no room
  const std::size_t pixels = after + 6;
  std::string bytes("MM");
  append16(bytes, 42);
  append32(bytes, 8);
  append16(bytes, entries);
  const auto entry = [&](std::size_t tag, std::size_t type, std::size_t value) {
    append16(bytes, tag);
    append16(bytes, type);
    append32(bytes, 1);
    append32(bytes, type == short_type ? value << 16 : value);
  };
  const auto bits = static_cast<std::size_t>(shape.bits);
  entry(256, long_type, static_cast<std::size_t>(shape.width));
  entry(257, long_type, height);
  append16(bytes, 258);  // bits of a sample
  append16(bytes, short_type);
  append32(bytes, colours);
  append32(bytes, colours == 1 ? bits << 16 : after);
  entry(259, short_type, 1);                     // no compression
  entry(262, short_type, colours == 1 ? 1 : 2);  // 0 is black, or RGB
  entry(273, long_type, pixels);                 // where the strip is
  entry(277, short_type, colours);
  entry(278, long_type, height);                      // rows of the strip
  entry(279, long_type, height * shape.row_bytes());  // bytes of the strip
  entry(284, short_type, 1);                          // colours together
  append32(bytes, 0);                                 // no other page
  for (int i = 0; i < 3; ++i) append16(bytes, bits);
  return bytes;
}

}  // namespace

Encoder encode_tiff(std::ostream& out, const PictureShape& shape, const std::string&) {
  return encode_plain(out, header(shape));
}

}  // namespace demix::io
