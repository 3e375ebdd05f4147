#include "demix/pictures.hpp"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <sstream>

#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/picture.hpp"

/// Pictures as channels: a frame is a pixel.
namespace demix::io {
namespace {

constexpr Index largest_side = Index{1} << 20;
constexpr Index most_pixels = Index{1} << 28;

std::string size_text(Index width, Index height) {
  return std::to_string(width) + " x " + std::to_string(height) + " pixels";
}

// By what is in it: pictures are often misnamed.
DecodedPicture decode(std::string_view file, const std::string& name) {
  using namespace std::string_view_literals;
  if (file.empty()) throw Error(name + ": the file is empty");
  if (file.starts_with("\x89PNG"sv)) return decode_png(file, name);
  if (file.starts_with("\xff\xd8"sv)) return decode_jpeg(file, name);
  for (const std::string_view start : {"II*\0"sv, "MM\0*"sv, "II+\0"sv, "MM\0+"sv}) {
    if (file.starts_with(start)) return decode_tiff(file, name);
  }
  if (file[0] == 'P') return decode_pnm(file, name);
  throw Error(name + ": is not a picture of a known kind; expected PNG, JPEG, TIFF, PGM or PPM");
}

bool is_transparent(const DecodedPicture& p) {
  if (!p.has_alpha) return false;
  Matrix<double> row(p.samples, p.width);
  for (std::size_t at = 0; at < p.bytes.size(); at += p.row_bytes()) {
    p.type.decode(p.bytes.data() + at, row.size(), row.data());
    if (row.row(p.colours).minCoeff() < p.white) return true;
  }
  return false;
}

/// Colour becomes grey by the luma of Rec. 709, 0.2126 R + 0.7152 G + 0.0722 B, of the values as they are
/// stored (with their gamma), unless the planes are wanted.
class PictureReader final : public SignalReader {
 public:
  PictureReader(const std::string& name, bool planes)
      : picture_(decode(read_file(name), name)), pixels_(picture_.width * picture_.height) {
    info_.width = picture_.width;
    info_.height = picture_.height;
    info_.channels = planes ? picture_.colours : 1;
    if (info_.channels == 3) info_.names = {"R", "G", "B"};
    info_.notes = picture_.notes;
    if (is_transparent(picture_)) info_.notes.push_back(name + ": its transparency is ignored");
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override { at_ = 0; }
  double resolution() const override {
    return picture_.white > 1 ? 1 / picture_.white : picture_.type.resolution;
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index n = std::min(out.cols(), pixels_ - at_);
    values_.resize(picture_.samples, n);
    picture_.type.decode(picture_.bytes.data() + static_cast<std::size_t>(at_) * picture_.pixel_bytes(),
                         values_.size(), values_.data());
    if (info_.channels == picture_.colours) {
      out.leftCols(n) = values_.topRows(picture_.colours) / picture_.white;
    } else {
      const Eigen::RowVector3d luma(0.2126, 0.7152, 0.0722);
      out.leftCols(n) = (luma / picture_.white).lazyProduct(values_.topRows(3));
    }
    at_ += n;
    return n;
  }

 private:
  DecodedPicture picture_;
  SignalInfo info_;
  Index pixels_;
  Index at_ = 0;
  Matrix<double> values_;
};

void append_level(std::vector<unsigned char>& row, double value, int bits, const std::string& name) {
  if (std::isnan(value)) throw Error(name + ": cannot write a pixel that is not a number");
  const auto level = std::lround(std::clamp(value, 0.0, 1.0) * ((1 << bits) - 1));
  if (bits == 16) row.push_back(static_cast<unsigned char>(level >> 8));
  row.push_back(static_cast<unsigned char>(level & 0xff));
}

PictureShape shape_of(const SignalInfo& info, int bits, const std::string& name) {
  const bool colour = info.names == std::vector<std::string>{"R", "G", "B"};
  if (info.channels != 1 && !(info.channels == 3 && colour)) {
    throw Error(name + ": a picture holds one channel, or three named R, G and B, not " +
                std::to_string(info.channels) + "; write each to a file of its own");
  }
  if (info.width < 1 || info.height < 1) {
    throw Error(name + ": the width and height of the picture are not known; write .npy or .csv");
  }
  if (info.width > largest_side || info.height > largest_side || info.width * info.height > most_pixels) {
    throw Error(name + ": " + size_text(info.width, info.height) + " are too many for a picture");
  }
  return {info.width, info.height, info.channels, bits};
}

class PictureWriter final : public SignalWriter {
 public:
  PictureWriter(const Path& file, const SignalInfo& info, int bits, decltype(encode_png)* encode)
      : name_(file.string()), shape_(shape_of(info, bits, name_)), out_(file, std::ios::binary) {
    if (!out_) throw failure(name_, "cannot write");
    encoder_ = encode(out_, shape_, name_);
  }

  void write(const Frames<double>& block) override {
    for (const auto& pixel : block.colwise()) {
      if (rows_ == shape_.height) throw Error(name_ + ": there are more" + than_expected());
      for (const double value : pixel) append_level(row_, value, shape_.bits, name_);
      if (row_.size() == shape_.row_bytes()) put_row();
    }
  }

  void finish() override {
    if (rows_ < shape_.height) throw Error(name_ + ": there are fewer" + than_expected());
    encoder_->finish();
    out_.close();
    if (!out_) throw failure(name_, "cannot write");
  }

 private:
  void put_row() {
    encoder_->put(row_);
    if (!out_) throw failure(name_, "cannot write");
    row_.clear();
    ++rows_;
  }
  std::string than_expected() const { return " frames than " + size_text(shape_.width, shape_.height); }

  std::string name_;
  PictureShape shape_;
  std::ofstream out_;
  Encoder encoder_;
  std::vector<unsigned char> row_;
  Index rows_ = 0;
};

class PlainEncoder final : public RowEncoder {
 public:
  PlainEncoder(std::ostream& out, const std::string& header) : out_(out) { out_ << header; }
  void put(const std::vector<unsigned char>& row) override {
    out_.write(reinterpret_cast<const char*>(row.data()), static_cast<std::streamsize>(row.size()));
  }

 private:
  std::ostream& out_;
};

// Column j of `to` is the mean of columns j w to (j + 1) w, w = from / to, shared ones by their parts.
Matrix<double> shrink_columns(const Eigen::Ref<const Matrix<double>>& from, Index to) {
  Matrix<double> out = Matrix<double>::Zero(from.rows(), to);
  const double w = static_cast<double>(from.cols()) / static_cast<double>(to);
  for (Index j = 0; j < to; ++j) {
    const double begin = static_cast<double>(j) * w;
    const double end = begin + w;
    for (auto c = static_cast<Index>(begin); c < from.cols() && static_cast<double>(c) < end; ++c) {
      const auto left = static_cast<double>(c);
      out.col(j) += (std::min(end, left + 1) - std::max(begin, left)) / w * from.col(c);
    }
  }
  return out;
}

}  // namespace

void check_picture_size(Index width, Index height, std::size_t file_bytes, const std::string& name) {
  // A byte of deflate is at most 1032 bytes, or 8256 pixels of one bit; small pictures are let through.
  constexpr Index most_pixels_of_a_byte = 1 << 14;
  constexpr Index small = 1 << 20;
  if (width < 1 || height < 1) throw Error(name + ": the picture is empty; it is damaged");
  if (width > largest_side || height > largest_side || width * height > most_pixels) {
    throw Error(name + ": " + size_text(width, height) + " are too many; demix reads up to " +
                std::to_string(most_pixels) + ", at most " + std::to_string(largest_side) + " a side");
  }
  const auto bytes = static_cast<Index>(file_bytes);
  if (width * height > small && width * height / most_pixels_of_a_byte > bytes) {
    throw Error(name + ": " + std::to_string(bytes) + " bytes cannot hold the " + size_text(width, height) +
                " the file announces; it is damaged or cut off");
  }
}

Error unreadable(const std::string& name, const char* kind, const char* reason) {
  std::string line;  // libraries may say it in several
  for (const char c : std::string_view(reason)) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space || !line.ends_with(' ')) line += space ? ' ' : c;
  }
  return Error(name + ": cannot be read as " + kind + " (" + line + "); it is damaged or cut off");
}

Encoder encode_plain(std::ostream& out, const std::string& header) {
  return std::make_unique<PlainEncoder>(out, header);
}

Reader open_picture(const Path& file, const ReadOptions& options) {
  return std::make_unique<PictureReader>(file.string(), options.planes);
}
Writer create_png(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<PictureWriter>(file, info, 16, encode_png);
}
Writer create_jpeg(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<PictureWriter>(file, info, 8, encode_jpeg);
}
Writer create_tiff(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<PictureWriter>(file, info, 16, encode_tiff);
}
Writer create_pnm(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<PictureWriter>(file, info, 16, encode_pnm);
}

std::string to_png8(const Eigen::Ref<const Matrix<double>>& grey) {
  const std::string name = "picture";
  if (grey.size() == 0) throw std::invalid_argument("grey: expected at least one pixel");
  std::ostringstream out;
  const Encoder encoder = encode_png(out, {grey.cols(), grey.rows(), 1, 8}, name);
  std::vector<unsigned char> bytes;
  for (const auto& row : grey.rowwise()) {
    bytes.clear();
    for (const double value : row) append_level(bytes, value, 8, name);
    encoder->put(bytes);
  }
  encoder->finish();
  return std::move(out).str();
}

Matrix<double> shrink(const Eigen::Ref<const Matrix<double>>& picture, Index width) {
  if (width < 1) throw std::invalid_argument("width: expected at least 1, got " + std::to_string(width));
  if (picture.cols() <= width) return picture;
  const double scale = static_cast<double>(width) / static_cast<double>(picture.cols());
  const auto height = static_cast<Index>(std::lround(scale * static_cast<double>(picture.rows())));
  const Matrix<double> narrow = shrink_columns(picture, width).transpose();
  return shrink_columns(narrow, std::max<Index>(height, 1)).transpose();
}

}  // namespace demix::io
