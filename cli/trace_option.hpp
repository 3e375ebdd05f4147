#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"
#include "demix/trace_files.hpp"

/// --trace FILE: how a network learned, for `separate`, `stream` and `compare`.
namespace demix::cli {

void add_trace_option(Arguments& command, std::string& file, const std::string& whose);

/// Pictures of traces that have been written. What cannot be drawn is a warning: the numbers are there.
std::vector<std::filesystem::path> try_to_draw(const std::string& file,
                                               const std::vector<TitledTrace>& traces);

}  // namespace demix::cli
