#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

/// Which array of a file that holds several is meant (.npz, .mat).
namespace demix::io {

struct NamedArray {
  std::string name;
  std::vector<std::uint64_t> shape;
  bool is_signals = false;  ///< numbers in one or two dimensions
};

std::string size_text(const std::vector<std::uint64_t>& shape);  ///< "1000 x 4"
std::string printable(std::string text);                         ///< for messages of one line
/// The position of the one asked for or, where none is, of the only one with signals; else an Error that
/// names them all.
std::size_t choose_array(const std::vector<NamedArray>& arrays, const std::string& asked,
                         const std::filesystem::path& file);

}  // namespace demix::io
