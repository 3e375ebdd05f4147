#pragma once

#include <optional>
#include <string>
#include <vector>

#include "demix/model.hpp"
#include "demix/separate_files.hpp"

/// Which channels of a recording are learned from.
namespace demix {

std::string channel_name(const io::SignalInfo& info, Index channel);  ///< "channel 3" where it has none

/// In their order. Terms are types, names, or patterns with * and ?; "all" is all. Without `pick`, of
/// biosignals: all but status channels and, where some are EEG, all but EEG and those of unknown type. Throws
/// std::invalid_argument if a term is of no channel, or none is left.
std::vector<Index> chosen_channels(const io::SignalInfo& info, io::Kind kind,
                                   const std::vector<std::string>& pick,
                                   const std::vector<std::string>& exclude);

/// What is known of these channels only.
io::SignalInfo info_of(const io::SignalInfo& info, const std::vector<Index>& channels);

/// Of a model that does not name its channels (AMICA's): those that would be learned from, if they are as
/// many.
std::optional<std::vector<Index>> nameless_channels(const Model& model, const io::SignalInfo& info);

/// The channels a model is of: all of them, or those of its names. Throws std::invalid_argument if it is of
/// others.
std::vector<Index> channels_of_model(const Model& model, const io::SignalInfo& info, const std::string& file);

/// "3 channels are not learned from: EOG1, EOG2 (eog), Status (status)"; empty if there are none.
std::string left_out(const io::SignalInfo& info, const std::vector<Index>& picks);

}  // namespace demix
