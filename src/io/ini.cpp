#include "io/ini.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "io/edf_fields.hpp"
#include "io/utf.hpp"

namespace demix::io {

std::string lower_case(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(),
                         [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return out;
}

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  while (true) {
    const std::size_t end = text.find(separator);
    parts.emplace_back(edf::trimmed(text.substr(0, end)));
    if (end == std::string_view::npos) return parts;
    text.remove_prefix(end + 1);
  }
}

Ini::Ini(std::string_view text) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
    if (line.starts_with('[') && line.ends_with(']')) {
      const std::string name = lower_case(line.substr(1, line.size() - 2));
      if (name == "comment") return;
      sections_.emplace_back(name, Lines());
    } else if (const std::size_t equals = line.find('=');
               equals != std::string_view::npos && !line.starts_with(';') && !sections_.empty()) {
      sections_.back().second.emplace_back(lower_case(edf::trimmed(line.substr(0, equals))),
                                           as_utf8(line.substr(equals + 1)));
    }
  }
}

const Ini::Lines& Ini::section(const std::string& name) const {
  static const Lines none;
  const auto found = std::ranges::find(sections_, name, [](const auto& s) { return s.first; });
  return found == sections_.end() ? none : found->second;
}

std::string Ini::value(const std::string& section_name, std::string_view key) const {
  for (const auto& [k, v] : section(section_name)) {
    if (k == key) return std::string(edf::trimmed(v));
  }
  return "";
}

std::optional<std::size_t> Ini::number_after(std::string_view key, std::string_view prefix) {
  if (!key.starts_with(prefix)) return {};
  key.remove_prefix(prefix.size());
  std::size_t value = 0;
  const auto [end, wrong] = std::from_chars(key.data(), key.data() + key.size(), value);
  if (wrong != std::errc() || end != key.data() + key.size()) return {};
  return value;
}

}  // namespace demix::io
