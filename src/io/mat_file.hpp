#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "io/file_bytes.hpp"
#include "io/format_files.hpp"
#include "io/numbers.hpp"

/// MATLAB's files of versions 5 to 7, as far as signals need them. A file is a sequence of elements, each
/// with its type and length; arrays are elements made of elements.
namespace demix::io::mat {

/// Of elements.
constexpr std::uint32_t type_int8 = 1, type_int32 = 5, type_uint32 = 6, type_single = 7, type_double = 9,
                        type_matrix = 14, type_compressed = 15, type_utf8 = 16, type_utf16 = 17;

/// Of arrays.
enum class Class : int {
  cell = 1,
  structure = 2,
  text = 4,
  sparse = 5,
  real64 = 6,
  real32 = 7,
  last_number = 15,
  opaque = 17,
};

struct Array {
  std::string name;  ///< within a struct, of the field
  Class kind = Class::real64;
  bool is_complex = false;
  std::vector<std::uint64_t> shape;
  Part content;  ///< the elements after the name

  bool is_real() const { return kind >= Class::real64 && kind <= Class::last_number && !is_complex; }
  std::uint64_t count() const;  ///< of its items; beyond 2^62: 2^62
};

class File {
 public:
  explicit File(const Path& path);

  /// What there is, without content where that is compressed.
  const std::vector<Array>& variables() const { return variables_; }
  const Array* find(std::string_view name) const;  ///< null if there is none
  Array load(const Array& variable) const;         ///< one of variables(), with its content

  std::optional<double> number(const Array& array) const;          ///< of one number
  std::optional<Matrix<double>> matrix(const Array& array) const;  ///< of two dimensions
  std::string text(const Array& array) const;                      ///< in UTF-8; a number in decimals
  using Visit = std::function<void(std::size_t item, const std::string& field, const Array& value)>;
  void each_field(const Array& structure, const Visit& visit) const;

  void require_numbers(const Array& array) const;  ///< real, and all there; else an Error
  /// An array of them as signals: `layout` without type and offset.
  Reader open(const Array& array, NumbersLayout layout) const;

 private:
  struct Numbers {
    NumberType type;
    Part bytes;
  };
  Array parse(const Part& matrix) const;
  Numbers numbers(const Array& array) const;
  void add_variable(const Part& element, bool is_compressed);
  Part unpacked(const Part& element, std::uint64_t most) const;

  std::string name_;
  bool is_swapped_ = false;
  std::vector<Array> variables_;
  std::vector<Part> compressed_;  // of each variable, or of no bytes
};

}  // namespace demix::io::mat
