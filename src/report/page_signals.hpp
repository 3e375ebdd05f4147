#pragma once

#include <functional>
#include <string>

#include "demix/html_report.hpp"

/// The sections of the page that show signals, and what other sections share with them.
namespace demix::report {

inline constexpr Index most_rows = 40;  ///< of a figure; more would be a page nobody reads
inline constexpr Index many_rows = 12;  ///< from there on they are drawn lower

using Words = std::function<std::string(Index)>;  ///< of a signal
Words channel_name(const Page& page);
Words source_name(const Page& page);

std::string moment(const Page& page, std::int64_t frame);  ///< as time if the rate is known

std::string first_only(Index all, const char* what);                  ///< says so, if there are too many
std::string label(const std::string& name, const std::string& more);  ///< at the left of a row

std::string mixtures(const Page& page);
std::string sources(const Page& page);
std::string against_truth(const Page& page);

}  // namespace demix::report
