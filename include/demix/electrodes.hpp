#pragma once

#include <array>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "demix/types.hpp"

/// Where electrodes are, in metres: +x is to the right, +y to the nose, +z up.
namespace demix::eeg {

using Position = std::array<double, 3>;
using Positions = std::vector<std::optional<Position>>;  ///< of each channel, where it is known

/// Radius of the head that positions without a unit are put on.
inline constexpr double head_radius = 0.095;

/// Of the international 10-05 system (Oostenveld and Praamstra 2001), and so of 10-10 and 10-20, on a sphere
/// around the origin; nothing for other names. Upper and lower case, "EEG " before the name, the name of a
/// common reference after it ("-REF", "-A1") and dots do not matter; T3, T4, T5 and T6 are T7, T8, P7 and P8.
std::optional<Position> standard_position(std::string_view name);
std::vector<std::string> standard_names();

/// Fills in what is not known by the standard positions, if no position is known at all: two heads do not
/// mix.
Positions with_standard(Positions positions, const std::vector<std::string>& names);

/// Directions of the electrodes from the centre of the head, 3 x known. The centre is that of the sphere that
/// fits them best, or the origin if they are too few to tell.
struct Directions {
  std::vector<Index> channels;  ///< of each column
  Matrix<double> unit;
};
Directions directions_of(const Positions& positions);

}  // namespace demix::eeg
