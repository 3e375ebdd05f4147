#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

/// Lines of numbers or names as text, the same for whole files and for streams. Fields are separated by
/// comma, semicolon, tab or blanks, whichever comes first in this order in the first line that counts.
namespace demix::io {

constexpr std::string_view byte_order_mark = "\xef\xbb\xbf";

std::string_view trim(std::string_view s);  ///< without blanks and ends of line around it

/// Not blank, nor a comment. `line` is trimmed, here and below.
inline bool line_counts(std::string_view line) { return !line.empty() && line.front() != '#'; }

char find_delimiter(std::string_view line);
void split(std::string_view line, char delimiter, std::vector<std::string_view>& fields);

/// Numbers too large or too small for a double are Inf or 0.
bool parse_number(std::string_view field, double& value);

/// As many numbers as `values` has room for: `channels`. Returns what is wrong, to be said after "line 7", or
/// nothing. `fields` is room to work in.
std::string parse_row(std::string_view line, char delimiter, std::size_t channels, double* values,
                      std::vector<std::string_view>& fields);

/// What is wrong with a line, as parse_row says it.
std::string wrong_fields(std::size_t count, std::size_t expected);
std::string wrong_number(std::size_t column, std::string_view field);  ///< `column` from 0

inline std::string at_line(const std::string& name, std::size_t number, const std::string& wrong) {
  return name + ": line " + std::to_string(number) + wrong;
}

bool are_names(const std::vector<std::string_view>& fields);  ///< none of them is a number
/// Without their quotes, as UTF-8.
std::vector<std::string> names_of(const std::vector<std::string_view>& fields);

/// A line, with its end, that reads back as these names: not as numbers, a comment, or more of them. What
/// would separate becomes a blank, or '_' where blanks separate. Nothing for no names.
std::string names_line(const std::vector<std::string>& names, char delimiter);

void append_number(std::string& text, double value);  ///< the shortest that reads back the same

}  // namespace demix::io
