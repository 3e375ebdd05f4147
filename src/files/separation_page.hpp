#pragma once

#include "demix/separate_files.hpp"

/// The page that separate_files() writes beside the sources; `faces`: of an EEG.
namespace demix {

std::string separation_page(const io::FileRecording& mixtures, const Recording& sources,
                            const SeparatedFiles& separated, const SeparateFilesOptions& options,
                            const std::optional<EegFaces>& faces);

}  // namespace demix
