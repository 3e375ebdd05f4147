#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <string>

#include "demix/io.hpp"

/// Numbers as text: one frame per line, separated by comma, semicolon, tab or blanks (whichever the first
/// line has), with or without a line of names on top. Empty lines and lines that begin with # are skipped.
namespace demix::io {
namespace {

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

char find_delimiter(std::string_view line) {
  for (const char c : {',', ';', '\t'}) {
    if (line.find(c) != std::string_view::npos) return c;
  }
  return ' ';
}

void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields) {
  fields.clear();
  if (delimiter == ' ') {
    while (!(line = trim(line)).empty()) {
      const std::size_t end = std::min(line.find_first_of(" \t"), line.size());
      fields.push_back(line.substr(0, end));
      line.remove_prefix(end);
    }
    return;
  }
  for (;;) {
    const std::size_t end = line.find(delimiter);
    fields.push_back(trim(line.substr(0, end)));
    if (end == std::string_view::npos) return;
    line.remove_prefix(end + 1);
  }
}

bool parse_number(std::string_view field, double& value) {
  if (!field.empty() && field.front() == '+') field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (error == std::errc::result_out_of_range)
    value = std::strtod(std::string(field).c_str(), nullptr);  // 0 or Inf
  return error != std::errc::invalid_argument && end == field.data() + field.size();
}

bool is_utf8(std::string_view s) {
  for (std::size_t i = 0; i < s.size();) {
    const auto lead = static_cast<unsigned char>(s[i]);
    const std::size_t length = lead < 0x80         ? 1
                               : (lead >> 5) == 6  ? 2
                               : (lead >> 4) == 14 ? 3
                               : (lead >> 3) == 30 ? 4
                                                   : 0;
    if (length == 0 || i + length > s.size()) return false;
    for (std::size_t k = 1; k < length; ++k) {
      if ((static_cast<unsigned char>(s[i + k]) >> 6) != 2) return false;
    }
    i += length;
  }
  return true;
}

// Names in another encoding are taken for Latin-1, where every byte is its own code point.
std::string as_utf8(const std::string& s) {
  if (is_utf8(s)) return s;
  std::string out;
  for (const char c : s) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) {
      out += c;
    } else {
      out += static_cast<char>(0xc0 | (byte >> 6));
      out += static_cast<char>(0x80 | (byte & 0x3f));
    }
  }
  return out;
}

std::string unquoted(std::string_view s) {
  if (s.size() >= 2 && (s.front() == '"' || s.front() == '\'') && s.back() == s.front())
    s = s.substr(1, s.size() - 2);
  return std::string(s);
}

}  // namespace

Signals parse_text(std::string_view text, const std::string& name) {
  constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";
  if (text.substr(0, 3) == byte_order_mark) text.remove_prefix(3);
  Signals out;
  std::vector<double> values;
  std::vector<std::string_view> fields;
  std::size_t channels = 0;
  char delimiter = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty() || line.front() == '#') continue;

    const bool first = delimiter == 0;
    if (first) delimiter = find_delimiter(line);
    split(line, delimiter, fields);
    if (first) {
      channels = fields.size();
      double ignored = 0;
      bool all_words = true;
      for (const std::string_view field : fields) all_words = all_words && !parse_number(field, ignored);
      if (all_words) {
        for (const std::string_view field : fields) out.names.push_back(as_utf8(unquoted(field)));
        continue;
      }
    }
    const std::string place = name + ": line " + std::to_string(number);
    if (fields.size() != channels) {
      throw Error(place + " has " + std::to_string(fields.size()) + " values where " +
                  std::to_string(channels) + " were expected; every row must be as long as the first");
    }
    for (std::size_t k = 0; k < channels; ++k) {
      double value = 0;
      if (!parse_number(fields[k], value)) {
        throw Error(place + ", column " + std::to_string(k + 1) + ": '" +
                    std::string(fields[k].substr(0, 40)) + "' is not a number");
      }
      values.push_back(value);
    }
  }
  if (values.empty()) throw Error(name + ": there are no numbers in it");
  out.data = Eigen::Map<const Matrix<double>>(values.data(), static_cast<Index>(channels),
                                              static_cast<Index>(values.size() / channels));
  return out;
}

std::string to_text(const Signals& signals, char delimiter) {
  std::string text;
  for (std::size_t i = 0; i < signals.names.size(); ++i) {
    if (i > 0) text.push_back(delimiter);
    std::string name = signals.names[i];
    std::replace(name.begin(), name.end(), delimiter, ' ');
    text += name;
  }
  if (!signals.names.empty()) text.push_back('\n');
  char buffer[32];
  for (Index t = 0; t < signals.data.cols(); ++t) {
    for (Index i = 0; i < signals.data.rows(); ++i) {
      if (i > 0) text.push_back(delimiter);
      const auto [end, error] = std::to_chars(buffer, buffer + sizeof buffer, signals.data(i, t));
      text.append(buffer, error == std::errc() ? end : buffer);
    }
    text.push_back('\n');
  }
  return text;
}

}  // namespace demix::io
