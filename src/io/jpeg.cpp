#include "io/failure.hpp"
#include "io/picture.hpp"

#ifdef DEMIX_HAVE_JPEG
#include <csetjmp>
#include <cstdio>  // jpeglib.h needs it
#include <ostream>

#include <jerror.h>
#include <jpeglib.h>
#endif

/// JPEG through libjpeg.
namespace demix::io {
#ifdef DEMIX_HAVE_JPEG
namespace {

constexpr int quality = 95;
constexpr int most_scans = 500;  // each goes over the whole picture: thousands would take hours

/// libjpeg must not come back from an error: it jumps back to call(), over its own frames and `f`, which has
/// nothing to destroy.
struct Failure {
  jpeg_error_mgr manager{};  // first: libjpeg gives us its address
  std::jmp_buf back{};
  char message[JMSG_LENGTH_MAX] = "";

  Failure() {
    jpeg_std_error(&manager);
    manager.error_exit = [](j_common_ptr jpeg) {
      auto* failure = reinterpret_cast<Failure*>(jpeg->err);
      (*jpeg->err->format_message)(jpeg, failure->message);
      std::longjmp(failure->back, 1);
    };
    // A warning is that pixels were made up; these are not.
    manager.emit_message = [](j_common_ptr jpeg, int level) {
      const int code = jpeg->err->msg_code;
      const bool harmless =
          code == JWRN_EXTRANEOUS_DATA || code == JWRN_JFIF_MAJOR || code == JWRN_ADOBE_XFORM;
      if (level < 0 && !harmless) (*jpeg->err->error_exit)(jpeg);
    };
  }

  template <typename F>
  [[nodiscard, gnu::noinline]] bool call(const F& f) {
    if (setjmp(back) != 0) return false;
    f();
    return true;
  }
};

class JpegDecoder {
 public:
  JpegDecoder(std::string_view file, const std::string& name) : name_(name) {
    jpeg_.err = &failure_.manager;
    progress_.progress_monitor = [](j_common_ptr jpeg) {
      if (reinterpret_cast<j_decompress_ptr>(jpeg)->input_scan_number > most_scans)
        ERREXIT(jpeg, JERR_BAD_PROGRESSION);
    };
    const auto* bytes = reinterpret_cast<const unsigned char*>(file.data());
    try {
      check(failure_.call([&] {
        jpeg_create_decompress(&jpeg_);
        jpeg_.progress = &progress_;
        jpeg_mem_src(&jpeg_, bytes, file.size());
        jpeg_read_header(&jpeg_, TRUE);
      }));
      check_picture_size(jpeg_.image_width, jpeg_.image_height, file.size(), name);
    } catch (...) {
      jpeg_destroy_decompress(&jpeg_);
      throw;
    }
  }
  ~JpegDecoder() { jpeg_destroy_decompress(&jpeg_); }
  JpegDecoder(const JpegDecoder&) = delete;
  JpegDecoder& operator=(const JpegDecoder&) = delete;

  DecodedPicture picture() {
    if (jpeg_.jpeg_color_space == JCS_CMYK || jpeg_.jpeg_color_space == JCS_YCCK) {
      throw Error(name_ + ": is a CMYK picture, made for printing; convert it to RGB");
    }
    DecodedPicture out;
    out.width = jpeg_.image_width;
    out.height = jpeg_.image_height;
    out.colours = out.samples = jpeg_.num_components == 1 ? 1 : 3;
    check(failure_.call([&] {
      jpeg_.out_color_space = jpeg_.num_components == 1 ? JCS_GRAYSCALE : JCS_RGB;
      jpeg_start_decompress(&jpeg_);
    }));
    while (jpeg_.output_scanline < jpeg_.output_height) {
      const std::size_t at = out.bytes.size();
      out.bytes.resize(at + out.row_bytes());
      auto* row = reinterpret_cast<JSAMPROW>(out.bytes.data() + at);
      check(failure_.call([&] { jpeg_read_scanlines(&jpeg_, &row, 1); }));
    }
    check(failure_.call([&] { jpeg_finish_decompress(&jpeg_); }));
    return out;
  }

 private:
  void check(bool went_well) const {
    if (!went_well) throw unreadable(name_, "JPEG", failure_.message);
  }

  std::string name_;
  Failure failure_;
  jpeg_progress_mgr progress_{};
  jpeg_decompress_struct jpeg_{};
};

class JpegEncoder final : public RowEncoder {
 public:
  JpegEncoder(std::ostream& out, const PictureShape& shape, const std::string& name)
      : name_(name), out_(out) {
    if (shape.width > JPEG_MAX_DIMENSION || shape.height > JPEG_MAX_DIMENSION) {
      throw Error(name + ": JPEG holds at most " + std::to_string(JPEG_MAX_DIMENSION) +
                  " pixels a side; write .png");
    }
    jpeg_.err = &failure_.manager;
    jpeg_.client_data = this;
    target_.init_destination = [](j_compress_ptr jpeg) { of(jpeg).empty_buffer(); };
    target_.empty_output_buffer = [](j_compress_ptr jpeg) {
      of(jpeg).drain(buffer_bytes);
      return static_cast<boolean>(TRUE);
    };
    target_.term_destination = [](j_compress_ptr jpeg) {
      of(jpeg).drain(buffer_bytes - of(jpeg).target_.free_in_buffer);
    };
    const bool went_well = failure_.call([&] { start(shape); });
    if (!went_well) {
      jpeg_destroy_compress(&jpeg_);
      check(false);
    }
  }
  ~JpegEncoder() override { jpeg_destroy_compress(&jpeg_); }
  JpegEncoder(const JpegEncoder&) = delete;
  JpegEncoder& operator=(const JpegEncoder&) = delete;

  void put(const std::vector<unsigned char>& row) override {
    auto* samples = const_cast<JSAMPROW>(row.data());  // only read
    check(failure_.call([&] { jpeg_write_scanlines(&jpeg_, &samples, 1); }));
  }
  void finish() override {
    check(failure_.call([&] { jpeg_finish_compress(&jpeg_); }));
  }

 private:
  static constexpr std::size_t buffer_bytes = 1 << 14;

  static JpegEncoder& of(j_compress_ptr jpeg) { return *static_cast<JpegEncoder*>(jpeg->client_data); }

  void start(const PictureShape& shape) {
    jpeg_create_compress(&jpeg_);
    jpeg_.dest = &target_;
    jpeg_.image_width = static_cast<JDIMENSION>(shape.width);
    jpeg_.image_height = static_cast<JDIMENSION>(shape.height);
    jpeg_.input_components = static_cast<int>(shape.colours);
    jpeg_.in_color_space = shape.colours == 3 ? JCS_RGB : JCS_GRAYSCALE;
    jpeg_set_defaults(&jpeg_);
    jpeg_set_quality(&jpeg_, quality, TRUE);
    jpeg_.comp_info[0].h_samp_factor = jpeg_.comp_info[0].v_samp_factor = 1;  // colours as fine as grey
    jpeg_start_compress(&jpeg_, TRUE);
  }
  void empty_buffer() {
    target_.next_output_byte = buffer_;
    target_.free_in_buffer = buffer_bytes;
  }
  void drain(std::size_t count) {
    out_.write(reinterpret_cast<const char*>(buffer_), static_cast<std::streamsize>(count));
    empty_buffer();
  }
  void check(bool went_well) const {
    if (!went_well) throw Error(name_ + ": cannot write: " + failure_.message);
  }

  std::string name_;
  std::ostream& out_;
  Failure failure_;
  jpeg_destination_mgr target_{};
  JOCTET buffer_[buffer_bytes];
  jpeg_compress_struct jpeg_{};
};

}  // namespace

DecodedPicture decode_jpeg(std::string_view file, const std::string& name) {
  return JpegDecoder(file, name).picture();
}
Encoder encode_jpeg(std::ostream& out, const PictureShape& shape, const std::string& name) {
  return std::make_unique<JpegEncoder>(out, shape, name);
}
#else
namespace {

Error without(const std::string& name) { return built_without("libjpeg", name, "JPEG files", ".pgm"); }

}  // namespace

DecodedPicture decode_jpeg(std::string_view, const std::string& name) { throw without(name); }
Encoder encode_jpeg(std::ostream&, const PictureShape&, const std::string& name) { throw without(name); }
#endif

}  // namespace demix::io
