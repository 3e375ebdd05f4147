#pragma once

#include <string>
#include <vector>

#include "demix/recording.hpp"

/// Channels of a recording with extreme values, and segments in which channels have such values.
namespace demix {

/// Of windows of one second: how large each channel is, and how alike the most similar other one.
struct WindowStatistics {
  Index window = 0;     ///< frames
  Matrix<double> span;  ///< channels x windows: largest less least value
  Matrix<double> deviation, correlation;
};
WindowStatistics window_statistics(const Recording& recording, Index window);

struct BadChannel {
  Index channel = 0;
  std::string why;  ///< "flat", "9.1 times as large as most", "unlike all others (correlation 0.08)"
};
/// Flat: less than 1/100 of the median deviation in half of the windows. Large: by the median over windows
/// more than 5 times as large as the median channel. Unlike: the correlation with the most similar channel is
/// below 0.25 in the median window; asked of 8 channels and more.
std::vector<BadChannel> bad_channels(const WindowStatistics& windows);

/// Windows in which the channels span, in the median, more than 6 times what each does usually, or one of
/// them more than 30 times.
std::vector<Segment> bad_stretches(const WindowStatistics& windows);

}  // namespace demix
