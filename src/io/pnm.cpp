#include <algorithm>
#include <cctype>
#include <charconv>

#include "io/bytes.hpp"
#include "io/picture.hpp"

/// PGM and PPM, as text (P2, P3) and as bytes (P5, P6): the kind, width, height and white as decimals, with
/// comments from # to the end of a line, then the pixels.
namespace demix::io {
namespace {

bool is_space(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

class Pnm {
 public:
  Pnm(std::string_view file, const std::string& name) : size_(file.size()), rest_(file), name_(name) {}

  DecodedPicture picture() {
    const std::string kind(rest_.substr(0, 2));
    const bool text = kind == "P2" || kind == "P3";
    if (!text && kind != "P5" && kind != "P6") {
      throw Error(name_ + ": is not a picture of a known kind; of PNM, P2, P3, P5 and P6 are read");
    }
    rest_.remove_prefix(2);
    DecodedPicture p;
    p.colours = p.samples = kind == "P3" || kind == "P6" ? 3 : 1;
    p.width = number();
    p.height = number();
    p.white = number();
    check_picture_size(p.width, p.height, size_, name_);
    if (p.white < 1 || p.white > 65535) throw Error(name_ + ": its white must be 1 to 65535; it is damaged");
    if (text) {
      read_text(p);
    } else {
      read_bytes(p);
    }
    skip_space();
    if (!rest_.empty()) p.notes.push_back(name_ + ": what follows the first picture is ignored");
    return p;
  }

 private:
  void skip_space() {
    for (;;) {
      while (!rest_.empty() && is_space(rest_[0])) rest_.remove_prefix(1);
      if (rest_.empty() || rest_[0] != '#') return;
      rest_.remove_prefix(std::min(rest_.size(), rest_.find('\n')));
    }
  }

  std::int32_t number() {
    skip_space();
    if (rest_.empty()) throw cut_off();
    std::int32_t value = -1;
    const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (error != std::errc() || value < 0) {
      throw Error(name_ + ": byte " + std::to_string(size_ - rest_.size()) +
                  " is not the number expected there; it is damaged");
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
  }

  void read_text(DecodedPicture& p) {
    p.type = number_type('u', 2);
    for (Index i = 0; i < p.width * p.height * p.samples; ++i) {
      const std::int32_t value = number();
      if (value > p.white) throw brighter_than_white();
      store(p.bytes, static_cast<std::uint16_t>(value));
    }
  }

  void read_bytes(DecodedPicture& p) {
    p.type = number_type('u', p.white < 256 ? 1 : 2, true);
    const std::size_t count = static_cast<std::size_t>(p.height) * p.row_bytes();
    if (rest_.empty() || !is_space(rest_[0]) || rest_.size() - 1 < count) throw cut_off();
    p.bytes = rest_.substr(1, count);
    rest_.remove_prefix(1 + count);
    Vector<double> row(p.width * p.samples);
    for (std::size_t at = 0; at < count; at += p.row_bytes()) {
      p.type.decode(p.bytes.data() + at, row.size(), row.data());
      if (row.maxCoeff() > p.white) throw brighter_than_white();
    }
  }

  Error cut_off() const { return Error(name_ + ": ends before the last pixel; it is cut off"); }
  Error brighter_than_white() const {
    return Error(name_ + ": has a pixel brighter than its white; it is damaged");
  }

  std::size_t size_;
  std::string_view rest_;
  std::string name_;
};

}  // namespace

DecodedPicture decode_pnm(std::string_view file, const std::string& name) {
  return Pnm(file, name).picture();
}

Encoder encode_pnm(std::ostream& out, const PictureShape& shape, const std::string&) {
  return encode_plain(out, std::string(shape.colours == 3 ? "P6" : "P5") + "\n" +
                               std::to_string(shape.width) + " " + std::to_string(shape.height) + "\n" +
                               std::to_string((1 << shape.bits) - 1) + "\n");
}

}  // namespace demix::io
