#pragma once

/// SIGINT and SIGTERM.
namespace demix::cli {

/// From now on they end the program as if they had not been caught, but first remove what is half-written.
void catch_signals();
/// Before the program ends by itself: if a signal was caught, ends by that instead.
void end_if_told();

/// For a command that can stop in an orderly way: the first signal only asks it to; the second ends it.
void stop_in_order();
bool stop_requested();
int stop_descriptor();  ///< can be read once stop_requested()

}  // namespace demix::cli
