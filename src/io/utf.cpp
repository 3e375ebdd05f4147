#include "io/utf.hpp"

#include <charconv>
#include <cmath>
#include <utility>

namespace demix::io {
namespace {

void append_utf8(std::string& out, char32_t c) {
  if (c < 0x80) {
    out += static_cast<char>(c);
    return;
  }
  const int more = c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
  constexpr unsigned first[] = {0, 0xc0, 0xe0, 0xf0};
  out += static_cast<char>(first[more] | (c >> (6 * more)));
  for (int k = more - 1; k >= 0; --k) out += static_cast<char>(0x80 | ((c >> (6 * k)) & 0x3f));
}

// The character at the start of `text` and how many bytes it takes: one, from 0x80 on, if that is not UTF-8.
std::pair<char32_t, std::size_t> first_character(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const std::size_t bytes = byte(0) < 0xc2 ? 1 : byte(0) < 0xe0 ? 2 : byte(0) < 0xf0 ? 3 : 4;
  if (bytes == 1 || byte(0) > 0xf4 || bytes > text.size()) return {byte(0), 1};
  char32_t c = byte(0) & (0x7fU >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if ((byte(k) & 0xc0) != 0x80) return {byte(0), 1};
    c = (c << 6) | (byte(k) & 0x3fU);
  }
  constexpr char32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_character = c >= least[bytes] && c < 0x110000 && (c < 0xd800 || c >= 0xe000);
  return is_character ? std::pair{c, bytes} : std::pair{char32_t{byte(0)}, std::size_t{1}};
}

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const auto [c, bytes] = first_character(text);
    if (bytes == 1 && c >= 0x80) return false;
    text.remove_prefix(bytes);
  }
  return true;
}

bool is_high(char16_t c) { return (c & 0xfc00) == 0xd800; }
bool is_low(char16_t c) { return (c & 0xfc00) == 0xdc00; }

}  // namespace

std::string to_utf8(std::u16string_view text) {
  constexpr char32_t replacement = 0xfffd;
  std::string out;
  for (std::size_t k = 0; k < text.size(); ++k) {
    char32_t c = text[k];
    if (is_high(text[k]) && k + 1 < text.size() && is_low(text[k + 1])) {
      c = 0x10000 + ((c & 0x3ffU) << 10) + (text[++k] & 0x3ffU);
    } else if (is_high(text[k]) || is_low(text[k])) {
      c = replacement;
    }
    append_utf8(out, c);
  }
  return out;
}

std::u16string to_utf16(std::string_view text) {
  std::u16string out;
  while (!text.empty()) {
    const auto [c, bytes] = first_character(text);
    text.remove_prefix(bytes);
    if (c < 0x10000) {
      out += static_cast<char16_t>(c);
    } else {
      out += static_cast<char16_t>(0xd7c0 + (c >> 10));
      out += static_cast<char16_t>(0xdc00 + (c & 0x3ff));
    }
  }
  return out;
}

std::string as_utf8(std::string_view text) {
  if (is_utf8(text)) return std::string(text);
  std::string out;
  for (const char c : text) append_utf8(out, static_cast<unsigned char>(c));
  return out;
}

std::string decimals(double value) {
  constexpr double exact = 1e15;
  if (std::abs(value) < exact && value == std::trunc(value)) return std::to_string(std::llround(value));
  char text[32];
  return {text, std::to_chars(text, text + sizeof text, value).ptr};
}

}  // namespace demix::io
