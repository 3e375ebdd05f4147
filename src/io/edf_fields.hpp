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

/// A number of at most 8 characters that is not above, or not below, `value`, and near it; empty: there is
/// none.
std::string limit_below(double value);
std::string limit_above(double value);

/// Printable ASCII of at most `width` characters.
std::string ascii(std::string_view text, std::size_t width);
/// Labels of signals: of 16 characters, all different.
std::vector<std::string> labels(const SignalInfo& info);
/// As many bytes of UTF-8 as fit, without half a character at the end.
std::string cut_utf8(std::string_view text, std::size_t bytes);

/// A data record: so many frames, and how long they last.
struct Record {
  Index frames = 0;
  int duration = 0;  ///< in units of 10 microseconds, as EDFlib has it
  double seconds() const { return duration / 1e5; }
};
/// A length at which `rate` is exact, if there is one: the one that leaves the fewest frames missing in the
/// last record of `frames` (0: not known), of those the one nearest to a second. `most` fit into a record.
std::optional<Record> choose_record(double rate, Index frames, Index most);

/// The record that holds info.others beside the channels; none if there is no such.
std::optional<Record> record_with_others(const SignalInfo& info);

}  // namespace demix::io::edf
