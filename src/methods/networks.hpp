#pragma once

#include "demix/methods.hpp"

/// The networks and the stream as online methods. Options come checked.
namespace demix {

std::unique_ptr<OnlineSeparator> make_sm_ica(Index inputs, Index outputs, const MethodOptions& o);
std::unique_ptr<OnlineSeparator> make_stream(Index inputs, Index outputs, const MethodOptions& o);
std::unique_ptr<OnlineSeparator> make_recursive_fobi(Index inputs, Index outputs, const MethodOptions& o);

}  // namespace demix
