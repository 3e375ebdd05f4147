#include "io/utf.hpp"

#include <utf8.h>

#include <charconv>
#include <cmath>
#include <iterator>

namespace demix::io {
namespace {

bool is_high(char16_t c) { return (c & 0xfc00) == 0xd800; }
bool is_low(char16_t c) { return (c & 0xfc00) == 0xdc00; }

}  // namespace

std::string to_utf8(std::u16string_view text) {
  constexpr char16_t replacement = 0xfffd;
  std::u16string valid(text);
  for (std::size_t k = 0; k < valid.size(); ++k) {
    if (is_high(valid[k]) && k + 1 < valid.size() && is_low(valid[k + 1])) {
      ++k;
    } else if (is_high(valid[k]) || is_low(valid[k])) {
      valid[k] = replacement;
    }
  }
  return utf8::utf16to8(valid);
}

std::u16string to_utf16(std::string_view text) {
  std::u16string out;
  for (const char* at = text.data(); at != text.data() + text.size();) {
    const char* invalid = utf8::find_invalid(at, text.data() + text.size());
    utf8::utf8to16(at, invalid, std::back_inserter(out));
    at = invalid;
    if (at != text.data() + text.size()) out += static_cast<unsigned char>(*at++);
  }
  return out;
}

std::string as_utf8(std::string_view text) {
  if (utf8::is_valid(text.begin(), text.end())) return std::string(text);
  std::string out;
  for (const char c : text) utf8::append(static_cast<unsigned char>(c), std::back_inserter(out));
  return out;
}

std::string decimals(double value) {
  constexpr double exact = 1e15;
  if (std::abs(value) < exact && value == std::trunc(value)) return std::to_string(std::llround(value));
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace demix::io
