#include <charconv>
#include <cstdint>
#include <fstream>
#include <string>

#include "io/failure.hpp"
#include "io/format_files.hpp"
#include "io/named_arrays.hpp"
#include "io/npy.hpp"

/// NumPy's array format, versions 1 to 3: magic, header length, a Python dictionary as text, then raw
/// numbers.
namespace demix::io {
namespace {

constexpr std::string_view magic("\x93NUMPY", 6);

struct Header {
  char byte_order = '<';
  char kind = 'f';
  std::size_t item_size = 8;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
  std::size_t data_offset = 0;
};

// The text after 'key': in the header, without leading blanks.
std::string_view after_key(std::string_view header, std::string_view key, const std::string& name) {
  std::string quoted("'");
  quoted.append(key).append("'");
  std::size_t at = header.find(quoted);
  if (at != std::string_view::npos) at = header.find(':', at + quoted.size());
  if (at == std::string_view::npos) throw Error(name + ": NPY header has no " + quoted);
  header.remove_prefix(at + 1);
  const std::size_t first = header.find_first_not_of(' ');
  if (first == std::string_view::npos) throw Error(name + ": NPY header ends after " + quoted);
  return header.substr(first);
}

void parse_type(Header& h, std::string_view text, const std::string& name) {
  const std::size_t end = text.size() > 1 ? text.find(text[0], 1) : std::string_view::npos;
  if ((text[0] != '\'' && text[0] != '"') || end == std::string_view::npos || end < 4) {
    throw Error(name + ": NPY type is not a plain number; save one numeric array");
  }
  const std::string_view descr = text.substr(1, end - 1);
  h.byte_order = descr[0];
  h.kind = descr[1];
  std::size_t size = 0;
  std::from_chars(descr.data() + 2, descr.data() + descr.size(), size);
  h.item_size = size;
  const bool known =
      (h.kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
      ((h.kind == 'i' || h.kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8)) ||
      (h.kind == 'b' && size == 1);
  if (!known || std::string_view("<>|=").find(h.byte_order) == std::string_view::npos) {
    throw Error(name + ": NPY type '" + printable(std::string(descr.substr(0, 40))) +
                "' is not supported; use float or integer");
  }
}

void parse_shape(Header& h, std::string_view text, const std::string& name) {
  const std::size_t end = text.find(')');
  if (text[0] != '(' || end == std::string_view::npos) throw Error(name + ": NPY shape is malformed");
  const char* p = text.data() + 1;
  const char* last = text.data() + end;
  while (p < last) {
    if (*p == ' ' || *p == ',') {
      ++p;
      continue;
    }
    std::uint64_t extent = 0;
    const auto [next, error] = std::from_chars(p, last, extent);
    if (error != std::errc()) throw Error(name + ": NPY shape is malformed");
    h.shape.push_back(extent);
    p = next;
  }
}

Header parse_header(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) throw Error(name + ": the file is empty");
  if (bytes.size() < 10 || bytes.substr(0, 6) != magic) throw Error(name + ": not an NPY file");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    throw Error(name + ": NPY version " + std::to_string(version) + " is not supported");
  const std::size_t width = version == 1 ? 2 : 4;
  if (bytes.size() < 8 + width) throw Error(name + ": NPY header is cut off");
  std::size_t length = 0;
  for (std::size_t i = 0; i < width; ++i) {
    length |= static_cast<std::size_t>(static_cast<unsigned char>(bytes[8 + i])) << (8 * i);
  }
  Header h;
  h.data_offset = 8 + width + length;
  if (h.data_offset > bytes.size()) throw Error(name + ": NPY header is cut off");
  const std::string_view text = bytes.substr(8 + width, length);
  parse_type(h, after_key(text, "descr", name), name);
  h.fortran_order = after_key(text, "fortran_order", name).substr(0, 4) == "True";
  parse_shape(h, after_key(text, "shape", name), name);
  return h;
}

struct MatrixSize {
  std::uint64_t rows, columns;
};

MatrixSize size_of(const Header& h, const std::string& name) {
  if (h.shape.empty() || h.shape.size() > 2) {
    throw Error(name + ": expected a two-dimensional array (samples, channels), got " +
                std::to_string(h.shape.size()) + " dimensions");
  }
  const MatrixSize e{h.shape[0], h.shape.size() == 2 ? h.shape[1] : 1};
  if (e.rows == 0 || e.columns == 0) {
    throw Error(name + ": the array is empty (" + size_text({e.rows, e.columns}) + ")");
  }
  return e;
}

void require_size(const Header& h, const MatrixSize& e, std::uint64_t bytes, const std::string& name) {
  const std::uint64_t there = bytes - h.data_offset;
  const std::uint64_t available = there / h.item_size;
  if (e.rows > available / e.columns || e.rows * e.columns != available || there % h.item_size != 0) {
    throw Error(name + ": the header announces " + size_text({e.rows, e.columns}) +
                " values, the file holds " + std::to_string(available) + "; it is damaged or cut off");
  }
}

NumberType type_of(const Header& h) { return number_type(h.kind, h.item_size, h.byte_order == '>'); }

std::string_view samples_of(const Frames<double>& X) {
  // Column-major channels x samples is C-order (samples, channels): the same bytes.
  return {reinterpret_cast<const char*>(X.data()), static_cast<std::size_t>(X.size()) * sizeof(double)};
}

class NpyWriter final : public SignalWriter {
 public:
  NpyWriter(const Path& file, Index channels)
      : name_(file.string()), channels_(channels), out_(file, std::ios::binary) {
    put(npy_header(0, channels_));
  }
  void write(const Frames<double>& block) override {
    const Matrix<double> dense = block;
    put(samples_of(dense));
    frames_ += static_cast<std::uint64_t>(block.cols());
  }
  void finish() override {
    out_.seekp(0);
    put(npy_header(frames_, channels_));
    out_.close();
    if (!out_) throw failure(name_, "cannot write");
  }

 private:
  void put(std::string_view bytes) {
    out_.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    if (!out_) throw failure(name_, "cannot write");
  }
  std::string name_;
  Index channels_;
  std::ofstream out_;
  std::uint64_t frames_ = 0;
};

}  // namespace

std::string npy_header(std::uint64_t frames, Index channels) {
  return npy_header({static_cast<Index>(frames), channels});
}

std::string npy_header(const std::vector<Index>& shape) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (";
  for (std::size_t k = 0; k < shape.size(); ++k) {
    header += std::to_string(shape[k]) + (shape.size() == 1 ? "," : k + 1 < shape.size() ? ", " : "");
  }
  header += "), }";
  header.resize(128 - magic.size() - 5, ' ');
  header.push_back('\n');
  std::string bytes(magic);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  return bytes + header;
}

NumbersLayout npy_layout(std::string_view start, std::uint64_t bytes, Orientation asked,
                         const std::string& name) {
  const Header h = parse_header(start, name);
  const MatrixSize e = size_of(h, name);
  require_size(h, e, bytes, name);
  NumbersLayout layout;
  layout.type = type_of(h);
  layout.offset = h.data_offset;
  set_shape(layout, e.rows, e.columns, h.fortran_order, h.shape.size() == 2 ? asked : Orientation::frames,
            name);
  return layout;
}

Reader open_npy(const Path& file, const ReadOptions& options) {
  auto bytes = std::make_shared<const FileBytes>(file);
  const std::string start = Part::all(bytes).copy(0, npy_start);
  NumbersLayout layout = npy_layout(start, bytes->size(), options.orientation, file.string());
  layout.info.rate = options.rate;
  return open_numbers(std::move(bytes), std::move(layout));
}

Writer create_npy(const Path& file, const SignalInfo& info, const Ranges&) {
  return std::make_unique<NpyWriter>(file, info.channels);
}

std::string to_npy(const Matrix<double>& data) {
  std::string bytes = npy_header(static_cast<std::uint64_t>(data.cols()), data.rows());
  bytes.append(samples_of(data));
  return bytes;
}

}  // namespace demix::io
