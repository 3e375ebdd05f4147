#include "io/failure.hpp"
#include "io/picture.hpp"

#ifdef DEMIX_HAVE_PNG
#include <png.h>

#include <cstdio>
#include <cstring>
#include <new>
#include <ostream>
#endif

/// PNG through libpng.
namespace demix::io {
#ifdef DEMIX_HAVE_PNG
namespace {

/// libpng jumps where C++ would throw: each call of it is made by call(), from where only libpng's own frames
/// and `f`, which has nothing to destroy, are jumped over.
class Png {
 public:
  explicit Png(bool writes) : writes_(writes) {
    png_ = (writes ? png_create_write_struct : png_create_read_struct)(PNG_LIBPNG_VER_STRING, message_, fail,
                                                                       ignore);
    if (png_ != nullptr) info_ = png_create_info_struct(png_);
    if (info_ == nullptr) {
      destroy();
      throw std::bad_alloc();
    }
  }
  ~Png() { destroy(); }
  Png(const Png&) = delete;
  Png& operator=(const Png&) = delete;

  png_structp get() const { return png_; }
  png_infop info() const { return info_; }
  const char* message() const { return message_; }

  /// Whether it went well; else message() says what did not.
  template <typename F>
  [[nodiscard, gnu::noinline]] bool call(const F& f) {
    if (setjmp(png_jmpbuf(png_)) != 0) return false;
    f(png_, info_);
    return true;
  }

 private:
  static void fail(png_structp png, png_const_charp text) {
    std::snprintf(static_cast<char*>(png_get_error_ptr(png)), sizeof message_, "%s", text);
    png_longjmp(png, 1);
  }
  static void ignore(png_structp, png_const_charp) {}
  void destroy() {
    if (writes_) {
      png_destroy_write_struct(&png_, &info_);
    } else {
      png_destroy_read_struct(&png_, &info_, nullptr);
    }
  }

  bool writes_;
  char message_[160] = "";
  png_structp png_ = nullptr;
  png_infop info_ = nullptr;
};

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& rest = *static_cast<std::string_view*>(png_get_io_ptr(png));
  if (count > rest.size()) png_error(png, "it ends too early");
  std::memcpy(to, rest.data(), count);
  rest.remove_prefix(count);
}

void write_bytes(png_structp png, png_bytep from, std::size_t count) {
  auto& out = *static_cast<std::ostream*>(png_get_io_ptr(png));
  out.write(reinterpret_cast<const char*>(from), static_cast<std::streamsize>(count));
}
void flush_nothing(png_structp) {}

class PngEncoder final : public RowEncoder {
 public:
  PngEncoder(std::ostream& out, const PictureShape& shape, const std::string& name) : name_(name) {
    check(png_.call([&](png_structp png, png_infop info) {
      png_set_write_fn(png, &out, write_bytes, flush_nothing);
      png_set_user_limits(png, PNG_UINT_31_MAX, PNG_UINT_31_MAX);
      png_set_IHDR(png, info, static_cast<png_uint_32>(shape.width), static_cast<png_uint_32>(shape.height),
                   shape.bits, shape.colours == 3 ? PNG_COLOR_TYPE_RGB : PNG_COLOR_TYPE_GRAY,
                   PNG_INTERLACE_NONE, PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
      png_write_info(png, info);
    }));
  }
  void put(const std::vector<unsigned char>& row) override {
    check(png_.call([&](png_structp png, png_infop) { png_write_row(png, row.data()); }));
  }
  void finish() override {
    check(png_.call([](png_structp png, png_infop) { png_write_end(png, nullptr); }));
  }

 private:
  void check(bool went_well) const {
    if (!went_well) throw Error(name_ + ": cannot write: " + png_.message());
  }
  std::string name_;
  Png png_{true};
};

}  // namespace

DecodedPicture decode_png(std::string_view file, const std::string& name) {
  Png png(false);
  const auto check = [&](bool went_well) {
    if (!went_well) throw unreadable(name, "PNG", png.message());
  };
  std::string_view rest = file;
  check(png.call([&](png_structp p, png_infop info) {
    png_set_read_fn(p, &rest, read_bytes);
    png_set_user_limits(p, PNG_UINT_31_MAX, PNG_UINT_31_MAX);  // the limits are ours
    png_read_info(p, info);
  }));
  DecodedPicture picture;
  picture.width = png_get_image_width(png.get(), png.info());
  picture.height = png_get_image_height(png.get(), png.info());
  check_picture_size(picture.width, picture.height, file.size(), name);

  int passes = 1;
  check(png.call([&](png_structp p, png_infop info) {
    png_set_expand(p);  // palettes to colours, 1, 2 and 4 bits to 8, a transparent colour to alpha
    png_set_swap(p);
    passes = png_set_interlace_handling(p);
    png_read_update_info(p, info);
  }));
  const int bits = png_get_bit_depth(png.get(), png.info());
  const int kind = png_get_color_type(png.get(), png.info());
  picture.samples = png_get_channels(png.get(), png.info());
  picture.colours = (kind & PNG_COLOR_MASK_COLOR) != 0 ? 3 : 1;
  picture.has_alpha = (kind & PNG_COLOR_MASK_ALPHA) != 0;
  picture.type = number_type('u', bits / 8);
  picture.white = (1 << bits) - 1;

  const std::size_t row_bytes = picture.row_bytes();
  for (int pass = 0; pass < passes; ++pass) {
    for (std::size_t y = 0; y < static_cast<std::size_t>(picture.height); ++y) {
      if (pass == 0) picture.bytes.resize((y + 1) * row_bytes);  // only for rows that come
      auto* row = reinterpret_cast<png_bytep>(picture.bytes.data() + y * row_bytes);
      check(png.call([row](png_structp p, png_infop) { png_read_row(p, row, nullptr); }));
    }
  }
  check(png.call([](png_structp p, png_infop) { png_read_end(p, nullptr); }));
  return picture;
}

Encoder encode_png(std::ostream& out, const PictureShape& shape, const std::string& name) {
  return std::make_unique<PngEncoder>(out, shape, name);
}
#else
namespace {

Error without(const std::string& name) { return built_without("libpng", name, "PNG files", ".pgm"); }

}  // namespace

DecodedPicture decode_png(std::string_view, const std::string& name) { throw without(name); }
Encoder encode_png(std::ostream&, const PictureShape&, const std::string& name) { throw without(name); }
#endif

}  // namespace demix::io
