#include "io/channel_lines.hpp"

#include <algorithm>
#include <optional>
#include <string>

#include "io/file_bytes.hpp"
#include "io/orientation.hpp"
#include "io/text_line.hpp"

/// The lines may be longer than memory: of each is kept where it begins and ends, and how far it was read.
namespace demix::io {
namespace {

constexpr std::size_t piece_bytes = 1 << 16;
constexpr std::string_view blanks = " \t\r\n";

// One that counts, without blanks around it.
struct TextLine {
  std::size_t number = 0;  // from 1
  std::uint64_t begin = 0, end = 0;
};

class TextLines {
 public:
  explicit TextLines(Part text) : text_(std::move(text)), buffer_(piece_bytes, '\0') {}

  std::optional<TextLine> next() {
    TextLine line;
    bool counts = false;
    while (at_ < text_.size) {
      const std::string_view part = rest_of_line();
      if (const std::size_t first = part.find_first_not_of(blanks); first != std::string_view::npos) {
        if (line.end == 0) {
          line.begin = at_ + first;
          counts = part[first] != '#';
        }
        line.end = at_ + part.find_last_not_of(blanks) + 1;
      }
      at_ += part.size();
      if (!part.ends_with('\n') && at_ < text_.size) continue;
      line.number = ++number_;
      if (counts) return line;
      line = {};
    }
    return std::nullopt;
  }

 private:
  // With its end, as far as it is in the buffer.
  std::string_view rest_of_line() {
    if (at_ == filled_to_) {
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, text_.size - at_));
      piece_ = {text_.fetch(at_, bytes, buffer_.data()), bytes};
      filled_to_ = at_ + bytes;
    }
    const std::string_view rest = piece_.substr(piece_.size() - static_cast<std::size_t>(filled_to_ - at_));
    const std::size_t end = rest.find('\n');
    return end == std::string_view::npos ? rest : rest.substr(0, end + 1);
  }

  Part text_;
  std::string buffer_;
  std::string_view piece_;
  std::uint64_t at_ = 0, filled_to_ = 0;
  std::size_t number_ = 0;
};

std::uint64_t count_fields(const Part& text, std::uint64_t begin, std::uint64_t end, char delimiter) {
  std::uint64_t fields = delimiter == ' ' ? 0 : 1;
  bool within = false;
  std::string buffer(piece_bytes, '\0');
  while (begin < end) {
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece_bytes, end - begin));
    const std::string_view piece(text.fetch(begin, bytes, buffer.data()), bytes);
    begin += bytes;
    if (delimiter != ' ') {
      fields += static_cast<std::uint64_t>(std::count(piece.begin(), piece.end(), delimiter));
      continue;
    }
    for (const char c : piece) {
      const bool blank = blanks.find(c) != std::string_view::npos;
      if (!blank && !within) ++fields;
      within = !blank;
    }
  }
  return fields;
}

class ChannelLines final : public SignalReader {
 public:
  ChannelLines(Part text, const std::vector<TextLine>& lines, std::uint64_t columns, char delimiter)
      : text_(std::move(text)), delimiter_(delimiter), name_(text_.bytes->path().string()) {
    info_.channels = static_cast<Index>(lines.size());
    info_.frames = static_cast<Index>(columns);
    for (const TextLine& line : lines) cursors_.push_back({line, line.begin, false});
  }

  SignalInfo& info() { return info_; }
  const SignalInfo& info() const override { return info_; }

  void rewind() override {
    at_ = 0;
    for (Cursor& c : cursors_) c = {c.line, c.line.begin, false};
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    const Index n = std::min(out.cols(), info_.frames - at_);
    if (n == 0) return 0;
    values_.resize(n);
    for (Index i = 0; i < out.rows(); ++i) {
      Cursor& c = cursors_[static_cast<std::size_t>(i)];
      parse(c);
      if (at_ + n == info_.frames && !c.done) throw wrong_length(c, at_ + n + left_in(c));
      out.row(i).head(n) = values_;
    }
    at_ += n;
    return n;
  }

 private:
  struct Cursor {
    TextLine line;
    std::uint64_t at = 0;  // of the next field
    bool done = false;     // there is none
  };

  // As many numbers as values_ has room for.
  void parse(Cursor& c) {
    constexpr Index usual_width = 24, shortest_piece = 1 << 12;
    buffer_.resize(static_cast<std::size_t>(
        std::clamp<Index>(usual_width * values_.size(), shortest_piece, static_cast<Index>(piece_bytes))));
    for (Index got = 0; got < values_.size();) {
      if (c.done) throw wrong_length(c, at_ + got);
      const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(buffer_.size(), c.line.end - c.at));
      const std::string_view piece(text_.fetch(c.at, bytes, buffer_.data()), bytes);
      const std::size_t used = parse_piece(c, piece, got);
      if (used == 0 && !c.done) throw no_number(c, got, piece);  // longer than any number
      c.at += used;
    }
  }

  // The fields that are complete in it; how many bytes they are.
  std::size_t parse_piece(Cursor& c, std::string_view piece, Index& got) {
    const bool is_last = c.at + piece.size() == c.line.end;
    const std::string_view ends = delimiter_ == ' ' ? " \t" : std::string_view(&delimiter_, 1);
    std::size_t at = 0;
    while (got < values_.size() && !c.done) {
      if (delimiter_ == ' ') at = std::min(piece.find_first_not_of(blanks, at), piece.size());
      std::size_t end = ends.size() == 1 ? piece.find(delimiter_, at) : piece.find_first_of(ends, at);
      if (end == std::string_view::npos) {
        if (!is_last) break;
        end = piece.size();
        c.done = true;
      }
      const std::string_view field = trim(piece.substr(at, end - at));
      if (!parse_number(field, values_(got))) throw no_number(c, got, field);
      ++got;
      at = c.done ? end : end + 1;
    }
    return at;
  }

  Index left_in(const Cursor& c) const {
    return static_cast<Index>(count_fields(text_, c.at, c.line.end, delimiter_));
  }

  Error wrong_length(const Cursor& c, Index fields) const {
    return Error(
        at_line(name_, c.line.number,
                wrong_fields(static_cast<std::size_t>(fields), static_cast<std::size_t>(info_.frames))));
  }
  Error no_number(const Cursor& c, Index got, std::string_view field) const {
    return Error(at_line(name_, c.line.number, wrong_number(static_cast<std::size_t>(at_ + got), field)));
  }

  Part text_;
  char delimiter_;
  std::string name_;
  SignalInfo info_;
  std::vector<Cursor> cursors_;
  Index at_ = 0;  // frame
  Eigen::RowVectorXd values_;
  std::string buffer_;
};

bool begins_with_number(std::string_view line, char delimiter) {
  double ignored = 0;
  return parse_number(
      trim(line.substr(0, line.find_first_of(delimiter == ' ' ? " \t" : std::string{delimiter}))), ignored);
}

}  // namespace

Reader open_channel_lines(const Path& file, char delimiter, Orientation asked) {
  if (asked == Orientation::frames) return nullptr;
  const bool automatic = asked == Orientation::automatic;
  Part text = Part::all(std::make_shared<const FileBytes>(file));
  if (text.copy(0, byte_order_mark.size()) == byte_order_mark) text = text.from(byte_order_mark.size());
  TextLines lines(text);
  const std::optional<TextLine> first = lines.next();
  if (!first) return nullptr;
  const std::string start =
      text.copy(first->begin, std::min<std::uint64_t>(piece_bytes, first->end - first->begin));
  if (delimiter == 0) delimiter = find_delimiter(start);
  if (automatic && !begins_with_number(start, delimiter)) return nullptr;

  const std::uint64_t columns = count_fields(text, first->begin, first->end, delimiter);
  std::vector<TextLine> kept;
  std::uint64_t rows = 0;
  for (std::optional<TextLine> line = first; line; line = lines.next()) {
    if (++rows <= most_channels) kept.push_back(*line);
    if (automatic && !rows_are_channels(rows, columns, asked)) return nullptr;  // without going on to the end
  }
  require_channels(rows, file.string());
  auto reader = std::make_unique<ChannelLines>(text, std::move(kept), columns, delimiter);
  note_channel_rows(reader->info(), rows, columns, asked, file.string());
  return reader;
}

}  // namespace demix::io
