#pragma once

#include "demix/types.hpp"

namespace demix {

/// The channel a component is strongest on. `share`: what the component adds to each channel, in units of the
/// channel's deviation. Of shares that differ by rounding only, the first channel.
inline Index strongest_channel(const Eigen::Ref<const Vector<double>>& share) {
  const double largest = share.size() > 0 ? share.cwiseAbs().maxCoeff() : 0;
  Index channel = 0;
  while (channel < share.size() && std::abs(share(channel)) < (1 - 1e-6) * largest) ++channel;
  return channel;
}

}  // namespace demix
