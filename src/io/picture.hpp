#pragma once

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "io/numbers.hpp"

/// What lies between the codecs of pictures (png.cpp, jpeg.cpp, tiff.cpp, pnm.cpp) and channels
/// (pictures.cpp).
namespace demix::io {

/// A picture, decoded: rows from the top; a pixel is grey or R, G, B, and what else there is (alpha first).
struct DecodedPicture {
  Index width = 0, height = 0;
  Index colours = 1;  ///< 1 or 3
  Index samples = 1;  ///< of a pixel, all in all
  bool has_alpha = false;
  NumberType type = number_type('u', 1);
  double white = 255;  ///< the largest value; 0 is black
  std::string bytes;   ///< width x height x samples values
  std::vector<std::string> notes;

  std::size_t pixel_bytes() const { return static_cast<std::size_t>(samples) * type.bytes; }
  std::size_t row_bytes() const { return static_cast<std::size_t>(width) * pixel_bytes(); }
};

/// Refuses what is too large, or larger than so many bytes of file can be, before memory is asked for.
void check_picture_size(Index width, Index height, std::size_t file_bytes, const std::string& name);

Error unreadable(const std::string& name, const char* kind, const char* reason);

// A whole file in memory; `name` is for messages.
DecodedPicture decode_png(std::string_view file, const std::string& name);
DecodedPicture decode_jpeg(std::string_view file, const std::string& name);
DecodedPicture decode_tiff(std::string_view file, const std::string& name);
DecodedPicture decode_pnm(std::string_view file, const std::string& name);

struct PictureShape {
  Index width = 0, height = 0;
  Index colours = 1;  ///< 1 or 3
  int bits = 16;      ///< 8 or 16

  std::size_t row_bytes() const { return static_cast<std::size_t>(width * colours * bits / 8); }
};

/// Rows from the top, most significant byte first. What the stream refuses shows in its state.
class RowEncoder {
 public:
  virtual ~RowEncoder() = default;
  virtual void put(const std::vector<unsigned char>& row) = 0;
  virtual void finish() {}
};
using Encoder = std::unique_ptr<RowEncoder>;

Encoder encode_png(std::ostream& out, const PictureShape& shape, const std::string& name);
Encoder encode_jpeg(std::ostream& out, const PictureShape& shape, const std::string& name);
Encoder encode_tiff(std::ostream& out, const PictureShape& shape, const std::string& name);
Encoder encode_pnm(std::ostream& out, const PictureShape& shape, const std::string& name);
Encoder encode_plain(std::ostream& out,
                     const std::string& header);  ///< the header, then the rows as they are

}  // namespace demix::io
