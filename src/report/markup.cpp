#include "report/markup.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdint>

namespace demix::report::markup {
namespace {

constexpr std::string_view replacement = "\xef\xbf\xbd";

// Bytes of the character at the front of `s` if it is whole, in its shortest form and allowed in XML; else 0.
std::size_t character(std::string_view s) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned first = byte(0);
  if (first < 0x80) return first >= 0x20 || first == '\t' || first == '\n' ? 1 : 0;
  const std::size_t size = first >= 0xf0 ? 4 : first >= 0xe0 ? 3 : 2;
  if (first < 0xc2 || first > 0xf4 || s.size() < size) return 0;
  std::uint32_t code = first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0U) != 0x80) return 0;
    code = code << 6U | (byte(i) & 0x3fU);
  }
  if ((size == 3 && code < 0x800) || (size == 4 && (code < 0x10000 || code > 0x10ffff))) return 0;
  const bool surrogate = code >= 0xd800 && code < 0xe000;
  return surrogate || code == 0xfffe || code == 0xffff ? 0 : size;
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string out;
  while (!text.empty()) {
    const std::size_t size = character(text);
    switch (text.front()) {
      case '&':
        out += "&amp;";
        break;
      case '<':
        out += "&lt;";
        break;
      case '>':
        out += "&gt;";
        break;
      case '"':
        out += "&quot;";
        break;
      case '\'':
        out += "&#39;";
        break;
      default:
        out += size == 0 ? replacement : text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return out;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t three = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      three = three << 8U | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out += i + k > bytes.size() ? '=' : digits[three >> (18 - 6 * k) & 0x3fU];
    }
  }
  return out;
}

std::string address(std::string_view file) {
  constexpr std::string_view plain = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/";
  std::string out = file.starts_with('/') ? "" : "./";  // a colon in the name is then no scheme
  for (const char c : file) {
    if (plain.find(c) != std::string_view::npos) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

std::string number(double x) {
  if (!std::isfinite(x)) return "–";
  const double size = std::abs(x);
  std::string s = size >= 1000 && size < 99999.5 ? fmt::format("{:.0f}", x) : fmt::format("{:.3g}", x);
  if (s == "-0") s = "0";
  if (const auto e = s.find('e'); e != std::string::npos) {  // 1.2e+06 -> 1.2e6
    s = s.substr(0, e + 1) + std::to_string(std::stoi(s.substr(e + 1)));
  }
  std::string out;
  for (const char c : s) c == '-' ? out += "−" : out += c;
  return out;
}

std::string count(long long n) {
  std::string s = std::to_string(n);
  for (auto i = static_cast<std::ptrdiff_t>(s.size()) - 3; i > (n < 0 ? 1 : 0); i -= 3) {
    s.insert(static_cast<std::size_t>(i), ",");
  }
  return s;
}

std::string time(double seconds) {
  if (!std::isfinite(seconds) || std::abs(seconds) >= 1e9) return number(seconds) + " s";
  if (seconds < 119.95) return seconds < 9.995 ? number(seconds) + " s" : fmt::format("{:.1f} s", seconds);
  const long long all = std::llround(seconds);
  if (all < 3600) return fmt::format("{}:{:02} min", all / 60, all % 60);
  return fmt::format("{}:{:02}:{:02} h", all / 3600, all / 60 % 60, all % 60);
}

}  // namespace demix::report::markup
