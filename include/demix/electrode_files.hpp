#pragma once

#include <array>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

/// Files of where electrodes are.
namespace demix::io {

struct Electrode {
  std::string name;
  std::array<double, 3> position;  ///< metres: +x to the right, +y to the nose, +z up
};

/// EEGLAB's polar coordinates (.loc, .locs, .eloc), ASA (.elc), BESA and EGI (.sfp), BIDS (electrodes.tsv,
/// with coordsystem.json beside it if it is there). Where the file does not name the unit, it is the one that
/// makes a head of the positions. Throws Error with the line.
std::vector<Electrode> read_electrodes(const std::filesystem::path& file);

/// What read_electrodes() opens: the file and, where it is there, the coordsystem.json that goes with it.
std::vector<std::filesystem::path> electrode_paths(const std::filesystem::path& file);

/// Of each channel, by its name; upper and lower case do not matter. Throws Error if no name is known.
std::vector<std::optional<std::array<double, 3>>> positions_of(const std::vector<std::string>& names,
                                                               const std::vector<Electrode>& electrodes,
                                                               const std::string& file);

}  // namespace demix::io
