#include "terminal.hpp"

#include <fmt/format.h>

#include <cstdint>

namespace demix::cli {
namespace {

struct Character {
  std::size_t bytes = 1;
  std::uint32_t code = 0;
  bool is_valid = false;  // else it is a byte that is not UTF-8
};

Character first_of(std::string_view text) {
  const auto byte = [&](std::size_t k) { return static_cast<unsigned char>(text[k]); };
  const unsigned lead = byte(0);
  if (lead < 0x80) return {1, lead, true};
  const std::size_t bytes = lead >> 5 == 0x6 ? 2 : lead >> 4 == 0xe ? 3 : lead >> 3 == 0x1e ? 4 : 0;
  if (bytes == 0 || bytes > text.size()) return {1, lead, false};
  std::uint32_t code = lead & (0x7fU >> bytes);
  for (std::size_t k = 1; k < bytes; ++k) {
    if (byte(k) >> 6 != 2) return {1, lead, false};
    code = code << 6 | (byte(k) & 0x3fU);
  }
  constexpr std::uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
  const bool is_valid = code >= least[bytes] && code < 0x110000 && !(code >= 0xd800 && code < 0xe000);
  return is_valid ? Character{bytes, code, true} : Character{1, lead, false};
}

// What a terminal would act on instead of showing it.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(const Character& c) {
  if (c.code == '\n') return "\\n";
  if (c.code == '\r') return "\\r";
  if (c.code == '\t') return "\\t";
  if (!c.is_valid || c.code < 0x80) return fmt::format("\\x{:02x}", c.code);
  return fmt::format("\\u{:04x}", c.code);
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const Character c = first_of(text);
    if (c.is_valid && !is_control(c.code)) {
      out += text.substr(0, c.bytes);
    } else {
      out += escaped(c);
    }
    text.remove_prefix(c.bytes);
  }
  return out;
}

}  // namespace demix::cli
