#pragma once

#include <filesystem>
#include <optional>
#include <string>

#include "demix/component_faces.hpp"
#include "demix/filters.hpp"
#include "demix/signal_files.hpp"

/// What is known of the components of an EEG in files.
namespace demix {

struct EegOptions {
  std::filesystem::path positions = {};  ///< a file of electrodes (electrode_files.hpp); or empty
};

struct EegFaces {
  eeg::Faces faces;
  eeg::Positions positions;  ///< of the model's channels: of the option, of the file, or the standard ones
  std::string event;         ///< the annotation of the ERP images; or empty
};

/// Throws io::Error if the file of positions cannot be read, or is of other channels: to be told before any
/// work.
void check_positions(const io::FileRecording& file, const EegOptions& options);

/// Nothing for recordings that are no EEG: another kind of file, or no rate. `frames`: those of `file`, or
/// what was made of them to learn from.
std::optional<EegFaces> eeg_faces(const Model& model, const Recording& frames, const io::FileRecording& file,
                                  const EegOptions& options = {});

/// Sets model.suggestions, from the recording filtered as it was to learn from. Returns what they were made
/// from, if it is an EEG.
std::optional<EegFaces> suggest(Model& model, const io::FileRecording& file,
                                const FilterOptions& filters = {}, const EegOptions& options = {});

/// Of a recording with other channels besides: those of the model, by their names, in its order; if it has no
/// names (AMICA's), those that would be learned from. Nothing if not all are there, or not as many.
std::optional<std::vector<Index>> channels_of(const Model& model, const io::SignalInfo& info);

/// The components that are asked for: numbers from 1, kinds of suggestions ("blink"), or "suggested" for all
/// of these, or "none". Counted from 0, in order, each once. Kinds that the model does not suggest go into
/// `missing`, each with what it suggests; null: they are wrong as numbers that it does not have are. Throws
/// std::invalid_argument saying what there is.
std::vector<Index> named_components(const Model& model, const std::vector<std::string>& names,
                                    std::vector<std::string>* missing = nullptr);

/// "demix apply model.json eeg.edf --remove 1,4 -o clean.edf"; without suggestions "none".
std::string removal_command(const Model& model, const std::filesystem::path& model_file,
                            const std::vector<std::filesystem::path>& inputs);

}  // namespace demix
