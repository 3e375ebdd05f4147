#include "terminal.hpp"

#include <fmt/format.h>
#include <utf8.h>

#include <cstdint>

namespace demix::cli {
namespace {

// What a terminal would act on instead of showing it.
bool is_control(std::uint32_t code) {
  return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x200e || code == 0x200f ||
         (code >= 0x2028 && code <= 0x202e) || (code >= 0x2066 && code <= 0x2069);
}

std::string escaped(std::uint32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\r') return "\\r";
  if (code == '\t') return "\\t";
  return code < 0x80 ? fmt::format("\\x{:02x}", code) : fmt::format("\\u{:04x}", code);
}

}  // namespace

std::string terminal_text(std::string_view text) {
  std::string out;
  const char* end = text.data() + text.size();
  for (const char* at = text.data(); at != end;) {
    const char* invalid = utf8::find_invalid(at, end);
    while (at != invalid) {
      const char* start = at;
      const std::uint32_t code = utf8::unchecked::next(at);
      out += is_control(code) ? escaped(code) : std::string(start, at);
    }
    if (at != end) out += fmt::format("\\x{:02x}", static_cast<unsigned char>(*at++));
  }
  return out;
}

}  // namespace demix::cli
