#pragma once

#include <vector>

#include "demix/signal_files.hpp"

namespace demix::io {

/// Positions as EEGLAB has them (+X nose, +Y left, +Z up, NaN: not known) into info.positions, in metres.
/// They are taken as metres, centimetres, millimetres or a sphere of radius 1, whichever makes a head of
/// them. A channel of unknown type that has a position is EEG.
void set_eeglab_positions(SignalInfo& info, const std::vector<Position>& places);
/// The unit that distances from the middle of a head are in, in metres; 0: they are of no head.
double head_unit(double mean_radius);

}  // namespace demix::io
