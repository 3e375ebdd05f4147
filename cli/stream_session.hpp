#pragma once

#include <optional>

#include "demix/signal_stream.hpp"
#include "stream_options.hpp"

namespace demix::cli {

/// `demix stream` from its first frame to its last, with checked arguments; floats are learned from as
/// floats. Throws io::Interrupted if a signal comes before there is a frame.
void run_session(const StreamArguments& o, std::optional<io::Encoding> encoding,
                 const io::ReadOptions& asked);

}  // namespace demix::cli
