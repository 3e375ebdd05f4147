#pragma once

#include <optional>
#include <string>

#include "demix/stream_separator.hpp"

/// What `stream --status` prints, for people and for machines. `speed`: frames per second. `rate`: of the
/// signal, 0 if it is not known. What is not known is left out, or null.
namespace demix::cli {

std::string status_line(const StreamStatus& status, std::optional<double> speed, double rate);
std::string status_json(const StreamStatus& status, std::optional<double> speed);

/// At the end: frames that were refused, or that nothing was separated; "" if all is well. `only_applies`:
/// nothing was to be learned.
std::string end_complaint(const StreamStatus& status, bool only_applies, bool writes_channels);

}  // namespace demix::cli
