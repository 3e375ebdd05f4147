#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demix/signal_files.hpp"

/// The fields of an EDF header: text of a fixed width.
namespace demix::io::edf {

std::string_view trimmed(std::string_view field);
std::optional<double> number(std::string_view field);
std::optional<long long> whole_number(std::string_view field);

/// The largest number that fits 8 characters and is at most `value` (least), or the smallest at least that.
std::string limit_below(double value);
std::string limit_above(double value);

/// Printable ASCII of at most `width` characters.
std::string ascii(std::string_view text, std::size_t width);
/// Labels of signals: of 16 characters, all different.
std::vector<std::string> labels(const Facts& facts);
/// As many bytes of UTF-8 as fit, without half a character at the end.
std::string cut_utf8(std::string_view text, std::size_t bytes);

/// A data record: so many frames, and how long they last.
struct Record {
  Index frames = 0;
  int duration = 0;  ///< in units of 10 microseconds, as EDFlib has it
  double seconds() const { return duration / 1e5; }
};
/// The length nearest to a second at which `rate` is exact, if there is one; one that divides `frames` (0:
/// not known) if possible. `most` frames fit into a record.
std::optional<Record> choose_record(double rate, Index frames, Index most);

}  // namespace demix::io::edf
