#include "io/mat_file.hpp"

#include <algorithm>

#include "io/bytes.hpp"
#include "io/deflate.hpp"
#include "io/named_arrays.hpp"
#include "io/utf.hpp"

namespace demix::io::mat {
namespace {

constexpr std::size_t head_bytes = 128;

NumberType number_type_of(std::uint32_t type, bool swapped) {
  // By the number MATLAB gives them; the last are UTF-8, UTF-16 and UTF-32.
  constexpr std::string_view kinds = " iuiuiuf f  iu  uuu";
  constexpr std::string_view bytes = "0112244408008800124";
  if (type >= kinds.size()) return {};
  return number_type(kinds[type], static_cast<std::size_t>(bytes[type] - '0'), swapped);
}

std::uint32_t load_uint32(const char* p, bool swapped) {
  char raw[4];
  std::copy_n(p, 4, raw);
  if (swapped) std::reverse(raw, raw + 4);
  return load<std::uint32_t>(raw);
}

struct Element {
  std::uint32_t type = 0;
  Part bytes;
};

// One element after the other.
class Elements {
 public:
  Elements(Part bytes, bool swapped, const std::string& name)
      : left_(std::move(bytes)), swapped_(swapped), name_(name) {}

  const Part& left() const { return left_; }

  Element next() {
    if (left_.size < 8) throw cut_off();
    char buffer[8];
    const char* head = left_.fetch(0, 8, buffer);
    const std::uint32_t first = load_uint32(head, swapped_);
    if (const std::size_t small = first >> 16; small > 0) {  // up to 4 bytes, beside their type
      if (small > 4) throw Error(name_ + ": one of its elements has no proper type; it is damaged");
      return take(first & 0xffff, 4, small, 8);
    }
    const std::size_t bytes = load_uint32(head + 4, swapped_);
    if (bytes > left_.size - 8) throw cut_off();
    const std::size_t padded = first == type_compressed ? bytes : (bytes + 7) / 8 * 8;
    return take(first, 8, bytes, 8 + padded);
  }

 private:
  Element take(std::uint32_t type, std::size_t at, std::size_t bytes, std::size_t whole) {
    Element e{type, left_.sub(at, bytes)};
    left_ = left_.from(std::min<std::uint64_t>(whole, left_.size));
    return e;
  }
  Error cut_off() const {
    return Error(name_ + ": ends within one of its elements; it is cut off or damaged");
  }

  Part left_;
  bool swapped_;
  const std::string& name_;
};

// True if the numbers of the file are the other way round.
bool check_head(std::string_view bytes, const std::string& name) {
  if (bytes.empty()) throw Error(name + ": the file is empty");
  constexpr std::string_view hdf("\x89HDF\r\n\x1a\n");
  if (bytes.starts_with(hdf) || bytes.starts_with("MATLAB 7.3") ||
      (bytes.size() > 520 && bytes.substr(512, 8) == hdf)) {
    throw Error(name + ": is a MATLAB file of version 7.3 (HDF5), which is not supported; save it with -v7");
  }
  const std::string_view order = bytes.size() < head_bytes ? "" : bytes.substr(126, 2);
  if (order != "IM" && order != "MI") {
    throw Error(name + ": is not a MATLAB file of version 5 to 7; save it with -v7");
  }
  return order == "MI";
}

// Why it is not signals.
const char* reason(const Array& a) {
  if (a.is_complex) return "is complex; save its real and its imaginary part";
  if (a.kind == Class::sparse) return "is sparse; save full(...) of it";
  if (a.kind == Class::structure) return "is a struct, not a matrix of numbers";
  if (a.kind == Class::cell) return "is a cell array, not a matrix of numbers";
  if (a.kind == Class::text) return "is text, not a matrix of numbers";
  return "is an object, not a matrix of numbers";
}

}  // namespace

std::uint64_t Array::count() const {
  constexpr std::uint64_t most = std::uint64_t{1} << 62;
  std::uint64_t product = 1;
  for (const std::uint64_t extent : shape) {
    if (extent == 0) return 0;
    product = product > most / extent ? most : product * extent;
  }
  return product;
}

File::File(const Path& path) : name_(path.string()) {
  const Part file = Part::all(std::make_shared<const FileBytes>(path));
  is_swapped_ = check_head(file.copy(0, 1024), name_);
  Elements elements(file.from(head_bytes), is_swapped_, name_);
  while (elements.left().size > 0) {
    const Element e = elements.next();
    if (e.type == type_compressed || e.type == type_matrix) add_variable(e.bytes, e.type == type_compressed);
  }
}

Part File::unpacked(const Part& element, std::uint64_t most) const {
  return Part::all(std::make_shared<const FileBytes>(element.bytes->path(),
                                                     inflated(element, Deflated::wrapped, most, name_)));
}

void File::add_variable(const Part& element, bool is_compressed) {
  constexpr std::uint64_t enough = 8192;  // for shape and name
  Array variable;
  if (is_compressed) {
    const Part start = unpacked(element, enough);
    if (start.size < 8) throw Error(name_ + ": one of its arrays has no content; it is damaged");
    variable = parse(start.from(8));
    variable.content = {};
  } else {
    variable = parse(element);
  }
  if (variable.name.empty()) return;  // what MATLAB keeps of objects
  variables_.push_back(std::move(variable));
  compressed_.push_back(is_compressed ? element : Part());
}

Array File::parse(const Part& matrix) const {
  constexpr std::size_t most_dimensions = 32;
  constexpr std::size_t longest_name = 4096;  // MATLAB's have up to 63 characters
  Array a;
  a.shape = {0, 0};
  if (matrix.size == 0) return a;
  Elements elements(matrix, is_swapped_, name_);
  const Element flags = elements.next();
  if (flags.type != type_uint32 || flags.bytes.size < 8) {
    throw Error(name_ + ": one of its arrays does not say of what kind it is; it is damaged");
  }
  const std::uint32_t word = load_uint32(flags.bytes.copy(0, 4).data(), is_swapped_);
  a.kind = static_cast<Class>(word & 0xff);
  a.is_complex = (word & 0x800) != 0;
  if (a.kind != Class::opaque) {
    const std::string shape = elements.next().bytes.copy(0, 4 * most_dimensions + 4);
    const std::size_t dimensions = shape.size() / 4;
    if (dimensions < 2 || dimensions > most_dimensions) {
      throw Error(name_ + ": one of its arrays has " + std::to_string(dimensions) +
                  " dimensions; it is damaged");
    }
    a.shape.clear();
    for (std::size_t k = 0; k < dimensions; ++k)
      a.shape.push_back(load_uint32(shape.data() + 4 * k, is_swapped_));
  }
  a.name = elements.next().bytes.copy(0, longest_name);
  a.content = elements.left();
  return a;
}

const Array* File::find(std::string_view name) const {
  const auto found = std::ranges::find(variables_, name, &Array::name);
  return found == variables_.end() ? nullptr : &*found;
}

Array File::load(const Array& variable) const {
  const Part& from = compressed_[static_cast<std::size_t>(&variable - variables_.data())];
  if (from.size == 0) return variable;
  const std::string start = unpacked(from, 8).copy(0, 8);
  const std::uint64_t size = std::uint64_t{8} + load_uint32(start.data() + 4, is_swapped_);
  const std::string quoted = "'" + printable(variable.name) + "'";
  check_inflated_size(size, from.size, name_ + ": " + quoted);
  // One byte more than there should be: so that the end, with its checksum, is reached.
  const Part all = unpacked(from, size + 1);
  if (all.size != size) throw Error(name_ + ": " + quoted + " does not hold what it says; it is damaged");
  return parse(all.from(8));
}

File::Numbers File::numbers(const Array& a) const {
  const Element e = Elements(a.content, is_swapped_, name_).next();
  const NumberType type = number_type_of(e.type, is_swapped_);
  if (type.decode == nullptr || e.bytes.size / type.bytes < a.count()) {
    throw Error(name_ + ": '" + printable(a.name) + "' should be " + size_text(a.shape) +
                " numbers but holds " + std::to_string(e.bytes.size) + " bytes; it is damaged");
  }
  return {type, e.bytes};
}

std::optional<double> File::number(const Array& a) const {
  if (!a.is_real() || a.count() != 1) return {};
  const Numbers n = numbers(a);
  double value = 0;
  n.type.decode(n.bytes.copy(0, n.type.bytes).data(), 1, &value);
  return value;
}

std::string File::text(const Array& a) const {
  constexpr std::size_t longest = 1 << 16;  // of a name
  if (const auto value = number(a)) return decimals(*value);
  if (a.kind != Class::text || a.count() == 0) return {};
  const Element e = Elements(a.content, is_swapped_, name_).next();
  if (e.type == type_utf8) return as_utf8(e.bytes.copy(0, longest));
  const Numbers n = numbers(a);
  const std::string bytes = n.bytes.copy(0, longest * n.type.bytes);
  std::vector<double> units(bytes.size() / n.type.bytes);
  n.type.decode(bytes.data(), static_cast<Index>(units.size()), units.data());
  std::u16string wide;
  for (const double unit : units)
    wide += static_cast<char16_t>(unit > 0 ? std::min(unit, 65535.0) : 0);  // NaN: 0
  return to_utf8(wide);
}

void File::each_field(const Array& structure, const Visit& visit) const {
  if (structure.kind != Class::structure) return;
  constexpr std::uint64_t small = 1 << 20;       // better read at once than a few bytes at a time
  constexpr std::uint64_t most_names = 1 << 20;  // bytes
  Elements elements(structure.content.in_memory(small), is_swapped_, name_);
  const std::string length = elements.next().bytes.copy(0, 5);
  const Part names_part = elements.next().bytes;
  const std::string names = names_part.copy(0, most_names);
  const std::size_t width = length.size() == 4 ? load_uint32(length.data(), is_swapped_) : 0;
  if (width == 0 || names_part.size > most_names) {
    throw Error(name_ + ": the fields of a struct have no proper names; it is damaged");
  }
  std::vector<std::string> fields;
  for (std::size_t at = 0; at + width <= names.size(); at += width)
    fields.emplace_back(names.substr(at, std::min(width, names.find('\0', at) - at)));
  if (fields.empty()) return;
  for (std::size_t item = 0; item < structure.count(); ++item) {
    for (const std::string& field : fields) {
      const Element e = elements.next();
      if (e.type != type_matrix) throw Error(name_ + ": a field of a struct is no array; it is damaged");
      Array value = parse(e.bytes.in_memory(small));
      value.name = field;
      visit(item, field, value);
    }
  }
}

std::optional<Matrix<double>> File::matrix(const Array& a) const {
  if (!a.is_real() || a.shape.size() != 2) return {};
  NumbersLayout layout;
  layout.info.channels = static_cast<Index>(a.shape[0]);
  layout.frames = a.shape[1];
  if (a.count() == 0) return Matrix<double>(0, 0);
  const Reader reader = open(a, std::move(layout));
  Matrix<double> out(static_cast<Index>(a.shape[0]), static_cast<Index>(a.shape[1]));
  reader->read_at(0, out);
  return out;
}

void File::require_numbers(const Array& a) const {
  if (!a.is_real()) throw Error(name_ + ": '" + printable(a.name) + "' " + reason(a));
  numbers(a);
}

Reader File::open(const Array& a, NumbersLayout layout) const {
  require_numbers(a);
  const Numbers n = numbers(a);
  layout.type = n.type;
  layout.offset = n.bytes.at;
  return open_numbers(n.bytes.bytes, std::move(layout));
}

}  // namespace demix::io::mat
