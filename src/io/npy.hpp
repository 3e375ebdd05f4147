#pragma once

#include <string>
#include <string_view>

#include "io/numbers.hpp"

/// NumPy's array format, for the archives of it too.
namespace demix::io {

constexpr std::size_t npy_start = 1 << 17;  ///< no header is longer

/// From the start of an array file of that many bytes in all. `name` is only for messages.
NumbersLayout npy_layout(std::string_view start, std::uint64_t bytes, Orientation asked,
                         const std::string& name);

/// Of (frames, channels) numbers of 8 bytes; as long for any number of frames, so that it can be written
/// again when they are known.
std::string npy_header(std::uint64_t frames, Index channels);
std::string npy_header(const std::vector<Index>& shape);  ///< of up to four dimensions

}  // namespace demix::io
