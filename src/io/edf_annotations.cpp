#include "io/edf_annotations.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "io/edf_fields.hpp"
#include "io/utf.hpp"

namespace demix::io::edf {
namespace {

bool is_date(int year, int month, int day) {
  constexpr std::array<int, 12> days = {31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  if (year < 1 || year > 9999 || month < 1 || month > 12 || day < 1) return false;
  const bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  return day <= (month == 2 && !leap ? 28 : days[static_cast<std::size_t>(month - 1)]);
}

// "Startdate 02-MAR-2004 ...": with four digits of the year.
bool long_date(const std::string& recording, int& year, int& month, int& day) {
  constexpr std::string_view months = "JANFEBMARAPRMAYJUNJULAUGSEPOCTNOVDEC";
  char name[4] = {};
  if (std::sscanf(recording.c_str(), "Startdate %2d-%3c-%4d", &day, name, &year) != 3) return false;
  for (char& c : name) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  const std::size_t at = months.find(std::string_view(name, 3));
  if (at == std::string_view::npos || at % 3 != 0) return false;
  month = static_cast<int>(at / 3) + 1;
  return is_date(year, month, day);
}

}  // namespace

std::string start_of(std::string_view header) {
  int year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0;
  if (!long_date(std::string(header.substr(88, 80)), year, month, day)) {
    if (std::sscanf(std::string(header.substr(168, 8)).c_str(), "%2d.%2d.%2d", &day, &month, &year) != 3)
      return "";
    year += year < 85 ? 2000 : 1900;
  }
  const std::string time(header.substr(176, 8));
  if (std::sscanf(time.c_str(), "%2d.%2d.%2d", &hour, &minute, &second) != 3) return "";
  if (!is_date(year, month, day) || hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 ||
      second > 59)
    return "";
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d", year, month, day, hour, minute, second);
  return text;
}

void Annotations::begin_record() { begins_.push_back(NAN); }

void Annotations::add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = std::min(bytes.find('\0'), bytes.size());
    if (end > 0) add_list(bytes.substr(0, end));
    bytes.remove_prefix(std::min(end + 1, bytes.size()));
  }
}

void Annotations::add_list(std::string_view list) {
  const std::size_t times_end = list.find('\x14');
  const std::string_view times = list.substr(0, times_end);
  const std::size_t bar = times.find('\x15');
  const auto onset = number(times.substr(0, bar));
  const auto duration = bar == std::string_view::npos ? 0 : number(times.substr(bar + 1)).value_or(-1);
  const bool has_sign = !list.empty() && (list[0] == '+' || list[0] == '-');
  if (!has_sign || times_end == std::string_view::npos || !onset || !list.ends_with('\x14')) {
    ++unreadable_;
    return;
  }
  std::string_view texts = list.substr(times_end + 1);
  while (!texts.empty()) {
    const std::size_t end = texts.find('\x14');
    const std::string_view text = texts.substr(0, end);
    if (!text.empty()) {
      found_.push_back({*onset, bar == std::string_view::npos ? -1 : duration, as_utf8(std::string(text))});
    } else if (std::isnan(begins_.back())) {
      begins_.back() = *onset;
    }
    texts.remove_prefix(end + 1);
  }
}

// Where in the frames that are read a time is: records follow each other there without gaps.
double Annotations::frame_time(double time) const {
  const auto after = std::upper_bound(begins_.begin(), begins_.end(), time);
  if (after == begins_.begin()) return time - begins_.front();
  const auto record = static_cast<double>(after - begins_.begin() - 1);
  return record * seconds_ + std::min(time - *(after - 1), after == begins_.end() ? INFINITY : seconds_);
}

void Annotations::finish(SignalInfo& info, bool may_have_gaps, const std::string& name) {
  const double first = begins_.empty() || std::isnan(begins_[0]) ? 0 : begins_[0];
  const bool in_order = may_have_gaps &&
                        std::ranges::none_of(begins_, [](double t) { return std::isnan(t); }) &&
                        std::ranges::is_sorted(begins_);
  std::vector<Annotation> boundaries;
  for (std::size_t k = 1; in_order && k < begins_.size(); ++k) {
    const double gap = begins_[k] - begins_[k - 1] - seconds_;
    if (gap > 1e-6) boundaries.push_back({static_cast<double>(k) * seconds_, 0, "boundary"});
  }
  for (Annotation& a : found_) a.onset = boundaries.empty() ? a.onset - first : frame_time(a.onset);
  if (!boundaries.empty()) {
    info.notes.push_back(name + ": has " + std::to_string(boundaries.size()) +
                         " gaps between its records; they are annotated as boundaries");
    found_.insert(found_.end(), boundaries.begin(), boundaries.end());
    std::ranges::stable_sort(found_, {}, &Annotation::onset);
  } else if (may_have_gaps && !in_order && !begins_.empty()) {
    info.notes.push_back(name +
                         ": its records do not say when they begin; they are taken one after the other");
  }
  if (unreadable_ > 0) {
    info.notes.push_back(name + ": " + std::to_string(unreadable_) +
                         " annotations are damaged; they are left out");
  }
  info.annotations = std::move(found_);
}

}  // namespace demix::io::edf
