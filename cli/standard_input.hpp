#pragma once

#include <filesystem>
#include <string>

namespace demix::cli {

/// All of standard input, in a temporary file that lasts as long as the process: commands go over their input
/// more than once. `format`: a name of io::encoding_names(), or empty: WAV and text are told by how they
/// begin. Throws UsageError, Failure.
std::filesystem::path saved_standard_input(const std::string& format);

}  // namespace demix::cli
