#pragma once

#include "demix/signal_files.hpp"

namespace demix::io {

/// Of a recording in a BIDS folder (sub-01_task-rest_eeg.vhdr), what the tables beside it say: types and
/// units from channels.tsv, annotations from events.tsv, which stand for those of the file, positions from
/// electrodes.tsv.
void add_bids(SignalInfo& info, const std::filesystem::path& file);

}  // namespace demix::io
