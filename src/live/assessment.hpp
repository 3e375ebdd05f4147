#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "demix/model.hpp"
#include "demix/stream_separator.hpp"

namespace demix::live {

/// What the stream's thread says of itself, some times a second.
struct Snapshot {
  StreamCounts counts;
  Matrix<double> unmixing;  ///< outputs x channels
  Matrix<double> mixing;    ///< channels x outputs; 0 if it learns with the network
  Vector<double> mean;
};

/// What the page says of outputs, one entry each; of those not in use 0.
struct Assessment {
  Vector<double> kurtosis, kurtosis_error;  ///< NaN = not known, or not in use
  Vector<double> power;                     ///< share of the power of all channels
  Matrix<double> mixing;                    ///< channels x outputs: what an output adds
  Matrix<double> weights;                   ///< the same, as a share of the channel's deviation
  std::optional<double> expected_error;
  std::vector<std::pair<Index, Index>> unresolved;
};

/// Of a sample of frames in the order of time.
Assessment assess(const Matrix<double>& sample, const Snapshot& snapshot, const StreamOptions& options);

/// The matrix of now as a model. Throws std::invalid_argument if nothing is separated yet.
Model model_of(const Snapshot& snapshot, const Assessment& assessment, const StreamOptions& options);

std::vector<Index> outputs_in_use(const Matrix<double>& unmixing);

/// Power spectrum by Welch's method, in dB, from 0 to half the rate; empty if there are too few frames.
std::vector<double> spectrum(const Vector<double>& x);

}  // namespace demix::live
