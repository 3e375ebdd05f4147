#include "io/mat_writing.hpp"

#include "io/bytes.hpp"
#include "io/utf.hpp"

namespace demix::io::mat {
namespace {

std::string padding(std::uint64_t bytes) { return std::string((8 - bytes % 8) % 8, '\0'); }

std::string tag(std::uint32_t type, std::uint64_t bytes) {
  std::string out;
  store(out, type);
  store(out, static_cast<std::uint32_t>(bytes));
  return out;
}

std::string element(std::uint32_t type, std::string_view bytes) {
  std::string out;
  if (!bytes.empty() && bytes.size() <= 4) {
    store(out, static_cast<std::uint32_t>(bytes.size() << 16) | type);
    out.append(bytes).append(4 - bytes.size(), '\0');
    return out;
  }
  return tag(type, bytes.size()).append(bytes) + padding(bytes.size());
}

template <typename T>
std::string raw(std::initializer_list<T> values) {
  std::string bytes;
  for (const T value : values) store(bytes, value);
  return bytes;
}

// An array up to the elements after its name, which take so many bytes.
std::string array_head(const std::string& name, Class kind, std::uint32_t rows, std::uint32_t columns,
                       std::uint64_t content_bytes) {
  const std::string head = element(type_uint32, raw<std::uint32_t>({static_cast<std::uint32_t>(kind), 0})) +
                           element(type_int32, raw<std::uint32_t>({rows, columns})) +
                           element(type_int8, name);
  return tag(type_matrix, head.size() + content_bytes) + head;
}

std::string array(const std::string& name, Class kind, std::uint32_t rows, std::uint32_t columns,
                  const std::string& content) {
  return array_head(name, kind, rows, columns, content.size()) + content;
}

}  // namespace

std::string file_head() {
  std::string head = "MATLAB 5.0 MAT-file, written by demix";
  head.resize(116, ' ');
  head.append(8, '\0');
  return head + raw<std::uint16_t>({0x0100}) + "IM";
}

Around around_numbers(const std::string& name, Class kind, std::uint32_t type, std::uint32_t rows,
                      std::uint32_t columns, std::uint64_t bytes) {
  const std::string after = padding(bytes);
  return {array_head(name, kind, rows, columns, 8 + bytes + after.size()) + tag(type, bytes), after};
}

std::string number_array(const std::string& name, double value) {
  return array(name, Class::real64, 1, 1, element(type_double, raw<double>({value})));
}

std::string matrix_array(const Matrix<double>& values) {
  const std::string_view bytes(reinterpret_cast<const char*>(values.data()),
                               static_cast<std::size_t>(values.size()) * sizeof(double));
  return array("", Class::real64, static_cast<std::uint32_t>(values.rows()),
               static_cast<std::uint32_t>(values.cols()), element(type_double, bytes));
}

std::string text_array(std::string_view text) {
  const std::u16string wide = to_utf16(text);
  const std::string_view bytes(reinterpret_cast<const char*>(wide.data()), 2 * wide.size());
  return array("", Class::text, wide.empty() ? 0 : 1, static_cast<std::uint32_t>(wide.size()),
               element(type_utf16, bytes));
}

std::string empty_array() { return array("", Class::real64, 0, 0, element(type_double, "")); }

std::string struct_head(const std::string& name, std::size_t count, const std::vector<std::string>& fields,
                        std::uint64_t item_bytes) {
  constexpr std::uint32_t width = 32;
  std::string names;
  for (const std::string& field : fields) names.append(field).append(width - field.size(), '\0');
  const std::string content = element(type_int32, raw<std::uint32_t>({width})) + element(type_int8, names);
  return array_head(name, Class::structure, 1, static_cast<std::uint32_t>(count),
                    content.size() + item_bytes) +
         content;
}

}  // namespace demix::io::mat
