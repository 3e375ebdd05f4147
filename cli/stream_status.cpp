#include "stream_status.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "demix/separate_files.hpp"

namespace demix::cli {

namespace {

nlohmann::json or_null(std::optional<double> value) {
  return value ? nlohmann::json(*value) : nlohmann::json();
}

}  // namespace

std::string status_line(const StreamStatus& s, std::optional<double> speed, double rate) {
  std::string line = fmt::format("{} frames", s.frames);
  if (rate > 0) line += fmt::format(" ({:.1f} s)", static_cast<double>(s.frames) / rate);
  if (speed) line += fmt::format(", {:.3g} frames/s", *speed);
  if (speed && rate > 0) line += fmt::format(" ({:.3g}x real time)", *speed / rate);
  if (s.rank == 0) {
    line += ", nothing separated yet";
  } else {
    line += fmt::format(", {} source{} {}", s.rank, s.rank == 1 ? "" : "s",
                        s.settled ? "settled" : "not settled yet");
    if (s.kurtosis.allFinite() && s.kurtosis_error.allFinite()) {
      line += ", kurtosis";
      for (Index i = 0; i < s.rank; ++i)
        line += fmt::format(" {:.3g}+-{:.1g}", s.kurtosis(i), s.kurtosis_error(i));
    }
    if (s.expected_mse) line += fmt::format(", expected error {:.1e}", *s.expected_mse);
    if (s.condition) line += fmt::format(", condition {:.2g}", *s.condition);
    if (!s.unresolved.empty()) line += fmt::format(", {} pairs may still be mixed", s.unresolved.size());
  }
  if (s.refused > 0) line += fmt::format(", {} refused", s.refused);
  if (s.outliers > 0) line += fmt::format(", {} outliers", s.outliers);
  if (s.changes > 0) line += fmt::format(", mixing changed at frame {}", s.last_change);
  return line;
}

std::string status_json(const StreamStatus& s, std::optional<double> speed) {
  nlohmann::json j = {
      // NaN is null, too
      {"frames", s.frames},
      {"frames_per_second", or_null(speed)},
      {"rank", s.rank},
      {"settled", s.settled},
      {"moved", s.moved},
      {"expected_error", or_null(s.expected_mse)},
      {"kurtosis", std::vector<double>(s.kurtosis.begin(), s.kurtosis.end())},
      {"kurtosis_error", std::vector<double>(s.kurtosis_error.begin(), s.kurtosis_error.end())},
      {"condition", or_null(s.condition)},
      {"refused", s.refused},
      {"outliers", s.outliers},
      {"changes", s.changes}};
  j["may_be_mixed"] = nlohmann::json::array();  // outputs, from 1
  for (const auto& [a, b] : s.unresolved) j["may_be_mixed"].push_back({a + 1, b + 1});
  j["last_change"] = s.changes > 0 ? nlohmann::json(s.last_change) : nlohmann::json();
  return j.dump();
}

std::string end_complaint(const StreamStatus& s, bool only_applies, bool writes_channels) {
  if (only_applies) return unusable_text(s.refused, s.frames, writes_channels);
  std::string refused = refused_text(s);
  if (s.rank > 0 || (s.refused > 0 && s.refused == s.frames)) return refused;
  return (refused.empty() ? "" : refused + "; ") +
         fmt::format("nothing was separated in {} frames: they are too few, or no channel varies", s.frames);
}

}  // namespace demix::cli
