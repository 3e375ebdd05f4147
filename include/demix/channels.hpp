#pragma once

#include <array>
#include <optional>
#include <string_view>

/// What is known of a channel beside its name: what it records, and where its electrode is.
namespace demix::io {

enum class ChannelType { unknown, eeg, eog, ecg, emg, misc, status };

/// Of an electrode on a head, in metres: +x right, +y nose, +z up.
using Position = std::array<double, 3>;

std::string_view type_name(ChannelType type);
/// "EEG", "eog", "EKG", "stim", ...: as files and people write it; nothing for other words.
std::optional<ChannelType> type_named(std::string_view word);
/// By the usual names: "EEG Fp1", "Cz", "EOG left", "VEOG", "ECG", "Status"; unknown for others.
ChannelType type_of_name(std::string_view name);

}  // namespace demix::io
