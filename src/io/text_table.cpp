#include "io/text_table.hpp"

#include <algorithm>
#include <fstream>

#include "io/failure.hpp"
#include "io/named_arrays.hpp"
#include "io/orientation.hpp"
#include "io/text_line.hpp"

namespace demix::io {
namespace {

constexpr std::size_t sampled_lines = 64, longest_table_line = 1 << 20;

struct Table {
  char delimiter = ',';
  bool decimal_comma = false;
  std::vector<std::string> names;  // of all columns, or none
  std::vector<std::size_t> kept;   // columns of numbers
  std::size_t columns = 0;
};

// 1,5 as 1.5; where commas are decimal points, none separates thousands.
bool parse(std::string_view field, bool decimal_comma, double& value) {
  if (!decimal_comma || field.find(',') == std::string_view::npos) return parse_number(field, value);
  std::string copy(field);
  if (copy.find('.') != std::string::npos) return false;
  std::ranges::replace(copy, ',', '.');
  return parse_number(copy, value);
}

using Fields = std::vector<std::string_view>;

// The table these lines are of, if all are as long and some column holds numbers.
bool look(const std::vector<std::string>& lines, Table& table) {
  std::vector<Fields> rows(lines.size());
  for (std::size_t k = 0; k < lines.size(); ++k) split(lines[k], table.delimiter, rows[k]);
  table.columns = rows[0].size();
  if (std::ranges::any_of(rows, [&](const Fields& r) { return r.size() != table.columns; })) return false;
  const auto is_number = [&](std::string_view field) {
    double ignored = 0;
    return parse(field, table.decimal_comma, ignored);
  };
  const bool named = std::ranges::none_of(rows[0], is_number);
  const std::size_t first = named && rows.size() > 1 && std::ranges::any_of(rows[1], is_number) ? 1 : 0;
  if (first == 1) table.names = names_of(rows[0]);
  for (std::size_t c = 0; c < table.columns; ++c) {
    std::size_t numbers = 0, texts = 0;
    for (std::size_t k = first; k < rows.size(); ++k) {
      (is_number(rows[k][c]) ? numbers : texts) += rows[k][c].empty() ? 0 : 1;
    }
    if (numbers > 0 && texts > 0) return false;  // something is wrong, which the usual reader says
    if (numbers > 0) table.kept.push_back(c);
  }
  return !table.kept.empty();
}

class TableReader final : public SignalReader {
 public:
  TableReader(const Path& file, Table table) : name_(file.string()), in_(file), table_(std::move(table)) {
    info_.channels = static_cast<Index>(table_.kept.size());
    for (const std::size_t c : table_.kept) {
      if (!table_.names.empty()) info_.names.push_back(table_.names[c]);
    }
    std::string skipped;
    std::size_t next = 0;
    for (std::size_t c = 0; c < table_.columns; ++c) {
      if (next < table_.kept.size() && table_.kept[next] == c) {
        ++next;
      } else {
        skipped += (skipped.empty() ? "" : ", ") +
                   (table_.names.empty() ? std::to_string(c + 1) : "'" + printable(table_.names[c]) + "'");
      }
    }
    if (!skipped.empty())
      info_.notes.push_back(name_ + ": columns that hold no numbers are left out: " + skipped);
    if (table_.decimal_comma) info_.notes.push_back(name_ + ": its commas are read as decimal points");
    require_channels(static_cast<std::uint64_t>(info_.channels), name_);
    rewind();
  }

  const SignalInfo& info() const override { return info_; }
  void rewind() override {
    in_.clear();
    in_.seekg(0);
    number_ = 0;
    at_names_ = !table_.names.empty();
  }

  Index read(Eigen::Ref<Matrix<double>> out) override {
    Index done = 0;
    std::string line;
    while (done < out.cols() && std::getline(in_, line)) {
      ++number_;
      std::string_view text = line;
      if (number_ == 1 && text.starts_with(byte_order_mark)) text.remove_prefix(byte_order_mark.size());
      text = trim(text);
      if (!line_counts(text)) continue;
      if (at_names_) {
        at_names_ = false;
        continue;
      }
      split(text, table_.delimiter, fields_);
      if (fields_.size() != table_.columns)
        throw Error(at_line(name_, number_, wrong_fields(fields_.size(), table_.columns)));
      for (std::size_t k = 0; k < table_.kept.size(); ++k) {
        const std::string_view field = fields_[table_.kept[k]];
        if (!parse(field, table_.decimal_comma, out(static_cast<Index>(k), done)))
          throw Error(at_line(name_, number_, wrong_number(table_.kept[k], field)));
      }
      ++done;
    }
    if (in_.bad()) throw failure(name_, "cannot read");
    return done;
  }

 private:
  std::string name_;
  std::ifstream in_;
  Table table_;
  SignalInfo info_;
  std::size_t number_ = 0;  // of the line
  bool at_names_ = false;
  Fields fields_;
};

}  // namespace

Reader open_text_table(const Path& file, char delimiter) {
  std::ifstream in(file);
  std::vector<std::string> lines;
  std::string start(longest_table_line, '\0');
  in.read(start.data(), static_cast<std::streamsize>(start.size()));
  start.resize(static_cast<std::size_t>(in.gcount()));
  std::string_view rest = start;
  if (rest.starts_with(byte_order_mark)) rest.remove_prefix(byte_order_mark.size());
  while (lines.size() < sampled_lines && !rest.empty()) {
    const std::size_t end = rest.find('\n');
    if (end == std::string_view::npos && start.size() == longest_table_line) break;  // not whole
    const std::string_view line = trim(rest.substr(0, end));
    if (line_counts(line)) lines.emplace_back(line);
    rest = end == std::string_view::npos ? std::string_view() : rest.substr(end + 1);
  }
  if (lines.size() < 2) return nullptr;
  // A comma is a decimal point where semicolons or tabs separate, and every number is one with it.
  for (const char mark : {';', '\t'}) {
    const bool both = std::ranges::any_of(lines, [&](const std::string& line) {
      return line.find(mark) != std::string::npos && line.find(',') != std::string::npos;
    });
    if (!both || (delimiter != 0 && delimiter != mark)) continue;
    Table table;
    table.delimiter = mark;
    table.decimal_comma = true;
    if (look(lines, table)) return std::make_unique<TableReader>(file, std::move(table));
  }
  Table table;
  table.delimiter = delimiter != 0 ? delimiter : find_delimiter(lines[0]);
  if (table.delimiter == ' ' || !look(lines, table) || table.kept.size() == table.columns) return nullptr;
  return std::make_unique<TableReader>(file, std::move(table));
}

}  // namespace demix::io
