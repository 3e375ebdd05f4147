#pragma once

#include <string>

#include "demix/signal_files.hpp"

/// Frames as a StreamWriter writes them.
namespace demix::io {

std::size_t bytes_of_frame(Encoding encoding, Index channels);  ///< of one frame; 0 for text
std::string frames_as_bytes(Encoding encoding, const Frames<double>& frames);

}  // namespace demix::io
