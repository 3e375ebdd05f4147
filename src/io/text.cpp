#include <algorithm>
#include <string>

#include "demix/io.hpp"
#include "io/text_line.hpp"

/// Numbers as text: one frame per line, separated by comma, semicolon, tab or blanks (whichever the first
/// line has), with or without a line of names on top. Empty lines and lines that begin with # are skipped.
namespace demix::io {

Signals parse_text(std::string_view text, const std::string& name) {
  if (text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
  Signals out;
  std::vector<double> values;
  std::vector<std::string_view> fields;
  std::size_t channels = 0;
  Index frames = 0;
  char delimiter = 0;
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trim(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    if (!line_counts(line)) continue;

    if (delimiter == 0) {  // the first
      delimiter = find_delimiter(line);
      split(line, delimiter, fields);
      channels = fields.size();
      if (are_names(fields)) {
        out.names = names_of(fields);
        continue;
      }
    }
    values.resize(values.size() + channels);
    const std::string wrong =
        parse_row(line, delimiter, channels, values.data() + values.size() - channels, fields);
    if (!wrong.empty()) throw Error(at_line(name, number, wrong));
    ++frames;
  }
  if (frames == 0) throw Error(name + ": there are no numbers in it");
  out.data = Eigen::Map<const Matrix<double>>(values.data(), static_cast<Index>(channels), frames);
  return out;
}

std::string to_text(const Signals& signals, char delimiter) {
  std::string text = names_line(signals.names, delimiter);
  for (Index t = 0; t < signals.data.cols(); ++t) {
    for (Index i = 0; i < signals.data.rows(); ++i) {
      if (i > 0) text.push_back(delimiter);
      append_number(text, signals.data(i, t));
    }
    text.push_back('\n');
  }
  return text;
}

}  // namespace demix::io
