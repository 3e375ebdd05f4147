#include "io/text_line.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "io/named_arrays.hpp"
#include "io/utf.hpp"

namespace demix::io {
namespace {

constexpr std::string_view delimiters = ",;\t ";  // the first that a line has is the one

bool contains(std::string_view s, char c) { return s.find(c) != std::string_view::npos; }

bool is_number(std::string_view field) {
  double ignored = 0;
  return parse_number(field, ignored);
}

std::string_view unquoted(std::string_view s) {
  if (s.size() >= 2 && (s.front() == '"' || s.front() == '\'') && s.back() == s.front())
    s = s.substr(1, s.size() - 2);
  return s;
}

bool needs_quotes(std::string_view name) {
  return name.empty() || is_number(name) || contains("#\"' \t", name.front()) ||
         contains(" \t", name.back()) || name.starts_with(byte_order_mark);
}

}  // namespace

std::string_view trim(std::string_view s) {
  const auto blank = [](char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; };
  while (!s.empty() && blank(s.front())) s.remove_prefix(1);
  while (!s.empty() && blank(s.back())) s.remove_suffix(1);
  return s;
}

char find_delimiter(std::string_view line) {
  for (const char c : delimiters) {
    if (contains(line, c)) return c;
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

std::string parse_row(std::string_view line, char delimiter, std::size_t channels, double* values,
                      std::vector<std::string_view>& fields) {
  split(line, delimiter, fields);
  if (fields.size() != channels) return wrong_fields(fields.size(), channels);
  for (std::size_t k = 0; k < channels; ++k) {
    if (!parse_number(fields[k], values[k])) return wrong_number(k, fields[k]);
  }
  return {};
}

std::string wrong_fields(std::size_t count, std::size_t expected) {
  return " has " + std::to_string(count) + " values where " + std::to_string(expected) +
         " were expected; every row must be as long as the first";
}

std::string wrong_number(std::size_t column, std::string_view field) {
  return ", column " + std::to_string(column + 1) + ": '" + printable(std::string(field.substr(0, 40))) +
         "' is not a number";
}

bool are_names(const std::vector<std::string_view>& fields) {
  return std::none_of(fields.begin(), fields.end(), is_number);
}

std::vector<std::string> names_of(const std::vector<std::string_view>& fields) {
  std::vector<std::string> names;
  for (const std::string_view field : fields) names.push_back(as_utf8(unquoted(field)));
  return names;
}

std::string names_line(const std::vector<std::string>& names, char delimiter) {
  if (names.size() == 1) delimiter = ' ';  // it is not in the line, so that any other would separate
  const std::string_view stronger = delimiters.substr(0, delimiters.find(delimiter));
  std::string line;
  for (std::string name : names) {
    for (char& c : name) {
      if (c == delimiter || contains(stronger, c) || c == '\n' || c == '\r') c = delimiter == ' ' ? '_' : ' ';
    }
    if (!line.empty()) line += delimiter;
    line += needs_quotes(name) ? '"' + name + '"' : name;
  }
  if (!line.empty()) line += '\n';
  return line;
}

void append_number(std::string& text, double value) {
  char digits[32];  // 24 are enough for any double
  text.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace demix::io
