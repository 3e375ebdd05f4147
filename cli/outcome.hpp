#pragma once

#include "arguments.hpp"

namespace demix::cli {

/// Runs the command that was named. What went wrong is one line on stderr. The exit code: 0 done, 1 failed, 2
/// misused.
int run_reported(Program& program, int argc, const char* const* argv);

}  // namespace demix::cli
