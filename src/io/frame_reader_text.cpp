#include <algorithm>
#include <string>

#include "demix/frame_io.hpp"
#include "io/orientation.hpp"
#include "io/text_line.hpp"

/// The part of FrameReader that reads text: one frame per line, separated by comma, semicolon, tab or blanks
/// (whichever the first line has), with or without a line of names on top. Empty lines and lines that begin
/// with # are skipped.
namespace demix::io {

void FrameReader::read_first_line() {
  const auto start = [&] { return std::string_view(buffer_.data(), std::min<std::size_t>(end_, 3)); };
  while (!input_over_ && start().size() < 3 && byte_order_mark.starts_with(start())) fill_or_throw();
  if (start() == byte_order_mark) begin_ = 3;

  for (find_line(); line_bytes_ == 0; find_line()) {
    if (input_over_) throw Error(name_ + ": there are no numbers in it");
    fill_or_throw();
  }
  const std::string_view line = trim({buffer_.data() + begin_, line_bytes_});
  delimiter_ = layout_.delimiter != 0 ? layout_.delimiter : find_delimiter(line);
  split(line, delimiter_, fields_);
  require_channels(fields_.size(), name_);
  layout_.channels = static_cast<Index>(fields_.size());
  if (!are_names(fields_)) return;  // it is the first frame, still to be given out
  layout_.names = names_of(fields_);
  take_line();
}

// Drops lines that do not count and finds the end of the first that does, if it is there.
void FrameReader::find_line() {
  line_bytes_ = 0;
  for (;;) {
    const std::string_view rest(buffer_.data() + begin_, end_ - begin_);
    const std::size_t end = rest.find('\n', searched_);
    if (end == std::string_view::npos && (!input_over_ || rest.empty())) {
      searched_ = rest.size();
      return;
    }
    const std::size_t bytes = std::min(end, rest.size() - 1) + 1;
    line_bytes_ = bytes;
    if (line_counts(trim(rest.substr(0, bytes)))) {
      searched_ = bytes - 1;
      return;
    }
    take_line();
  }
}

void FrameReader::take_line() {
  begin_ += std::exchange(line_bytes_, 0);
  searched_ = 0;
  ++line_number_;
}

// What is wrong with the next line, or nothing and its numbers.
std::string FrameReader::parse_line(double* frame) {
  const std::string wrong = parse_row(trim({buffer_.data() + begin_, line_bytes_}), delimiter_,
                                      static_cast<std::size_t>(layout_.channels), frame, fields_);
  return wrong.empty() ? wrong : at_line(name_, line_number_, wrong);
}

}  // namespace demix::io
