#include "io/bids.hpp"

#include <algorithm>
#include <fstream>
#include <optional>

#include "demix/electrode_files.hpp"
#include "demix/io.hpp"
#include "io/edf_fields.hpp"
#include "io/ini.hpp"
#include "io/named_arrays.hpp"
#include "io/utf.hpp"

namespace demix::io {
namespace {

namespace fs = std::filesystem;

// A table with names of columns in its first line.
class Tsv {
 public:
  explicit Tsv(const fs::path& file) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line) && rows_.size() < (1 << 20);) {
      if (!line.empty()) rows_.push_back(split(line, '\t'));
    }
  }
  std::size_t rows() const { return rows_.empty() ? 0 : rows_.size() - 1; }
  bool has(const std::string& column) const {
    return !rows_.empty() && std::ranges::count(rows_[0], column) > 0;
  }
  std::string at(std::size_t row, const std::string& column) const {  // empty: n/a
    if (!has(column)) return "";
    const auto c = static_cast<std::size_t>(std::ranges::find(rows_[0], column) - rows_[0].begin());
    const std::vector<std::string>& fields = rows_[row + 1];
    return c >= fields.size() || fields[c] == "n/a" ? "" : as_utf8(fields[c]);
  }

 private:
  std::vector<std::vector<std::string>> rows_;
};

// sub-01_task-rest_run-1_channels.tsv, or the nearest with fewer parts: sub-01_electrodes.tsv.
std::optional<fs::path> table_beside(const fs::path& file, const std::string& kind) {
  std::string stem = file.stem().string();
  while (true) {
    const std::size_t bar = stem.find_last_of('_');
    if (bar == std::string::npos) return {};
    stem.resize(bar);
    const fs::path table = file.parent_path() / (stem + "_" + kind + ".tsv");
    std::error_code ignored;
    if (fs::is_regular_file(table, ignored)) return table;
  }
}

std::optional<std::size_t> channel_of(const SignalInfo& info, const std::string& name) {
  const auto found = std::ranges::find(info.names, name);
  if (name.empty() || found == info.names.end()) return {};
  return static_cast<std::size_t>(found - info.names.begin());
}

void add_channels(SignalInfo& info, const fs::path& file) {
  const Tsv table(file);
  const auto n = static_cast<std::size_t>(info.channels);
  if (info.names.empty() && table.rows() == n) {
    for (std::size_t k = 0; k < n; ++k) info.names.push_back(table.at(k, "name"));
  }
  info.types.resize(n, ChannelType::unknown);
  std::string bad;
  for (std::size_t k = 0; k < table.rows(); ++k) {
    const auto i = channel_of(info, table.at(k, "name"));
    if (!i) continue;
    if (const auto type = type_named(table.at(k, "type"))) info.types[*i] = *type;
    if (table.at(k, "status") == "bad") bad += (bad.empty() ? "" : ",") + printable(info.names[*i]);
  }
  if (!bad.empty()) {
    info.notes.push_back(file.string() + ": calls channels bad; leave them out with `exclude`: " + bad);
  }
}

void add_events(SignalInfo& info, const fs::path& file) {
  const Tsv table(file);
  std::vector<Annotation> events;
  for (std::size_t k = 0; k < table.rows(); ++k) {
    const auto onset = edf::number(table.at(k, "onset"));
    if (!onset) continue;
    std::string text = table.at(k, "trial_type");
    if (text.empty()) text = table.at(k, "value");
    events.push_back({*onset, edf::number(table.at(k, "duration")).value_or(-1), text});
  }
  if (!events.empty()) info.annotations = std::move(events);
}

void add_electrodes(SignalInfo& info, const fs::path& file) {
  try {
    info.positions = positions_of(info.names, read_electrodes(file), file.string());
  } catch (const Error& e) {  // the recording can be read without
    info.notes.push_back(std::string(e.what()) + "; its positions are not used");
  }
}

}  // namespace

void add_bids(SignalInfo& info, const fs::path& file) {
  const std::string stem = file.stem().string();
  if (!stem.starts_with("sub-") || !stem.ends_with("_eeg")) return;
  const auto add = [&](const char* kind, auto add_table) {
    const auto table = table_beside(file, kind);
    if (!table) return;
    info.files_beside.push_back(*table);
    add_table(info, *table);
  };
  add("channels", add_channels);
  add("events", add_events);
  add("electrodes", add_electrodes);
}

}  // namespace demix::io
