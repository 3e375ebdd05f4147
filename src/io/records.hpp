#pragma once

#include <fstream>
#include <string>
#include <vector>

#include "io/format_files.hpp"
#include "io/numbers.hpp"

/// Files of records of one size, each of which has some samples of one signal, then of the next: EDF, BDF,
/// GDF.
namespace demix::io {

struct RecordSignal {
  std::string label, unit;
  Index samples = 0;       ///< in a record
  std::size_t offset = 0;  ///< in a record, in bytes
  NumberType type;
  double least_digital = 0, least = 0, scale = 0;  ///< value = least + (digital - least_digital) scale
  bool annotations = false;
  std::string least_text, most_text;  ///< EDF: the limits in the header
  int low = 0, high = 0;
};

struct Records {
  std::uint64_t first = 0;  ///< where the first begins, in bytes
  std::uint64_t count = 0, bytes = 0;
  double seconds = 0;
  std::vector<RecordSignal> signals;
};

/// Signals of the rate that most have; the others are left out, with a note. `info`: what else is known.
Reader open_records(const Path& file, const Records& records, SignalInfo info);

NumberType int24_type();

}  // namespace demix::io
