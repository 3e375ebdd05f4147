#include "io/named_arrays.hpp"

#include <algorithm>

#include "demix/io.hpp"

namespace demix::io {
namespace {

std::string list(const std::vector<NamedArray>& arrays) {
  constexpr std::size_t enough = 12;
  std::string text;
  for (std::size_t k = 0; k < arrays.size() && k < enough; ++k) {
    if (k > 0) text += ", ";
    text += printable(arrays[k].name);
    if (!arrays[k].shape.empty()) text += " (" + size_text(arrays[k].shape) + ")";
  }
  return text + (arrays.size() > enough ? ", ..." : "");
}

}  // namespace

std::string size_text(const std::vector<std::uint64_t>& shape) {
  std::string text;
  for (const std::uint64_t extent : shape) text += (text.empty() ? "" : " x ") + std::to_string(extent);
  return text;
}

std::string printable(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f; }, '?');
  return text;
}

std::size_t choose_array(const std::vector<NamedArray>& arrays, const std::string& asked,
                         const std::filesystem::path& file) {
  const std::string holds = arrays.empty() ? "it is empty" : "it holds " + list(arrays);
  if (!asked.empty()) {
    const auto found = std::ranges::find(arrays, asked, &NamedArray::name);
    if (found != arrays.end()) return static_cast<std::size_t>(found - arrays.begin());
    throw Error(file.string() + ": has no array '" + printable(asked) + "'; " + holds);
  }
  const auto first = std::ranges::find(arrays, true, &NamedArray::is_signals);
  if (first == arrays.end()) {
    throw Error(file.string() + ": has no array of numbers with one or two dimensions; " + holds);
  }
  std::vector<NamedArray> fit;
  std::ranges::copy_if(arrays, std::back_inserter(fit), &NamedArray::is_signals);
  if (fit.size() > 1) {
    throw Error(file.string() + ": holds several arrays, " + list(fit) + "; choose one with `variable`");
  }
  return static_cast<std::size_t>(first - arrays.begin());
}

}  // namespace demix::io
