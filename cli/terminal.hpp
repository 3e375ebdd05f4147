#pragma once

#include <string>
#include <string_view>

namespace demix::cli {

/// Text of others (names of channels and files, annotations) fit for a terminal: control characters, those
/// that turn the direction of writing, and bytes that are not UTF-8 are written as \n, \x1b or \u202e.
std::string terminal_text(std::string_view text);

}  // namespace demix::cli
