#pragma once

#include "demix/eeg_report.hpp"
#include "demix/separate_files.hpp"

namespace demix {

/// What the page of an EEG shows besides.
report::Eeg eeg_part(const Recording& channels, const io::FileRecording& mixtures,
                     const SeparatedFiles& separated, const EegFaces& faces);

}  // namespace demix
