#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "io/mat_file.hpp"

/// MATLAB's files of version 5, for writing: the head of a file, and arrays.
namespace demix::io::mat {

std::string file_head();
constexpr std::uint64_t most_bytes = 0x7fffffff;  ///< in an array
/// All of an array of numbers that is before them and after; the first is as long for any shape.
struct Around {
  std::string before, after;
};
Around around_numbers(const std::string& name, Class kind, std::uint32_t type, std::uint32_t rows,
                      std::uint32_t columns, std::uint64_t bytes);
std::string number_array(const std::string& name, double value);
std::string matrix_array(const Matrix<double>& values);
std::string text_array(std::string_view text);  ///< from UTF-8; what is not is taken as Latin-1
std::string empty_array();
/// All of an array of structs that is before its items, which take so many bytes and are field after field.
std::string struct_head(const std::string& name, std::size_t count, const std::vector<std::string>& fields,
                        std::uint64_t item_bytes);

}  // namespace demix::io::mat
