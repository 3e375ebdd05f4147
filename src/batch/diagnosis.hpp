#pragma once

#include "batch/output_sums.hpp"

/// What is told of a separation beside its numbers. Each function looks for one thing and warns of it; none
/// warns of data as they should be.
namespace demix {

/// What the functions below look at. Outputs are as in the model, in its order.
struct Evidence {
  Matrix<float> y;   ///< outputs of segments of the recording, side by side
  ChannelEnds ends;  ///< of the channels in these segments
  Index segment_frames = 0;
  bool overlap = false;               ///< segments share frames with the next
  std::vector<Vector<double>> means;  ///< of the outputs over stretches of the recording, of equal length
  std::vector<std::vector<LargestValues::Value>> largest;  ///< |y| of each output, descending
  Vector<double> fourth;                                   ///< sum y^4
  Matrix<double> crosstalk;  ///< amplitude of source j to fear in output i; empty if it cannot be told
};

void find_unresolved(Model& model, const Evidence& evidence);  ///< pairs whose crosstalk is too large
void find_coherence(Model& model, const Evidence& evidence);   ///< echoes and delays
void find_common_magnitude(Model& model, const Evidence& evidence);
/// The same by the correlations of y_i^2 and y_j^2, where only moments are known.
void find_common_squares(Model& model, const Matrix<double>& correlation);
void find_glitches(Model& model, const Evidence& evidence);
void find_drift(Model& model, const Evidence& evidence);
void find_clipping(Model& model, const Evidence& evidence);

/// The frames that make most of a component, if they are a handful: descending. None otherwise.
std::vector<std::int64_t> glitch_frames(const std::vector<LargestValues::Value>& largest, double fourth,
                                        double frames_in_all);

}  // namespace demix
