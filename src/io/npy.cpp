#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <string>

#include "demix/io.hpp"

/// NumPy's array format, versions 1 to 3: magic, header length, a Python dictionary as text, then raw
/// numbers.
namespace demix::io {
namespace {

static_assert(std::endian::native == std::endian::little, "the readers assume a little-endian machine");

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
      (h.kind == 'f' && (size == 4 || size == 8)) ||
      ((h.kind == 'i' || h.kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8)) ||
      (h.kind == 'b' && size == 1);
  if (!known || std::string_view("<>|=").find(h.byte_order) == std::string_view::npos) {
    throw Error(name + ": NPY type '" + std::string(descr) + "' is not supported; use float or integer");
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

template <typename T>
double number(const char* p, bool swap) {
  char raw[sizeof(T)];
  std::memcpy(raw, p, sizeof(T));
  if (swap) std::reverse(raw, raw + sizeof(T));
  T value;
  std::memcpy(&value, raw, sizeof(T));
  return static_cast<double>(value);
}

using Decoder = double (*)(const char*, bool);

Decoder decoder(const Header& h) {
  if (h.kind == 'f') return h.item_size == 4 ? number<float> : number<double>;
  const bool is_signed = h.kind == 'i';
  switch (h.item_size) {
    case 1:
      return is_signed ? number<std::int8_t> : number<std::uint8_t>;
    case 2:
      return is_signed ? number<std::int16_t> : number<std::uint16_t>;
    case 4:
      return is_signed ? number<std::int32_t> : number<std::uint32_t>;
    default:
      return is_signed ? number<std::int64_t> : number<std::uint64_t>;
  }
}

}  // namespace

Signals parse_npy(std::string_view bytes, const std::string& name) {
  const Header h = parse_header(bytes, name);
  if (h.shape.empty() || h.shape.size() > 2) {
    throw Error(name + ": expected a two-dimensional array (samples, channels), got " +
                std::to_string(h.shape.size()) + " dimensions");
  }
  const std::uint64_t samples = h.shape[0];
  const std::uint64_t channels = h.shape.size() == 2 ? h.shape[1] : 1;
  const std::uint64_t available = (bytes.size() - h.data_offset) / h.item_size;
  if (channels == 0 || samples == 0) {
    throw Error(name + ": the array is empty (" + std::to_string(samples) + " samples, " +
                std::to_string(channels) + " channels)");
  }
  if (samples > available / channels || samples * channels != available ||
      (bytes.size() - h.data_offset) % h.item_size != 0) {
    throw Error(name + ": the header announces " + std::to_string(samples) + " x " +
                std::to_string(channels) + " values, the file holds " + std::to_string(available) +
                "; it is damaged or cut off");
  }
  const Decoder decode = decoder(h);
  const bool swap = h.byte_order == '>';
  const char* p = bytes.data() + h.data_offset;
  Signals out;
  const auto n = static_cast<Index>(channels);
  const auto T = static_cast<Index>(samples);
  out.data.resize(n, T);
  const Index stride_sample = h.fortran_order ? 1 : n;
  const Index stride_channel = h.fortran_order ? T : 1;
  for (Index t = 0; t < T; ++t) {
    for (Index i = 0; i < n; ++i) {
      const Index at = t * stride_sample + i * stride_channel;
      out.data(i, t) = decode(p + at * static_cast<Index>(h.item_size), swap);
    }
  }
  return out;
}

std::string to_npy(const Matrix<double>& data) {
  std::string header = "{'descr': '<f8', 'fortran_order': False, 'shape': (" + std::to_string(data.cols()) +
                       ", " + std::to_string(data.rows()) + "), }";
  const std::size_t unpadded = magic.size() + 4 + header.size() + 1;
  header.append((64 - unpadded % 64) % 64, ' ');
  header.push_back('\n');
  std::string bytes(magic);
  bytes.push_back(1);
  bytes.push_back(0);
  bytes.push_back(static_cast<char>(header.size() & 0xff));
  bytes.push_back(static_cast<char>(header.size() >> 8));
  bytes += header;
  // Column-major channels x samples is C-order (samples, channels): the same bytes.
  bytes.append(reinterpret_cast<const char*>(data.data()),
               static_cast<std::size_t>(data.size()) * sizeof(double));
  return bytes;
}

}  // namespace demix::io
