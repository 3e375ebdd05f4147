#pragma once

#include "demix/types.hpp"

namespace demix {

/// What each component adds to each channel, in units of the deviation that all of them give the channel:
/// a_ik / |a_i|; 0 on channels that hold nothing.
inline Matrix<double> channel_shares(const Matrix<double>& mixing) {
  const Vector<double> size = mixing.rowwise().norm();
  const double nothing = size.size() > 0 ? 1e-12 * size.maxCoeff() : 0;
  Matrix<double> shares = mixing;
  for (Index i = 0; i < shares.rows(); ++i) shares.row(i) *= size(i) > nothing ? 1 / size(i) : 0;
  return shares;
}

/// The channel a component is strongest on, of its shares of the channels. Of shares that differ by rounding
/// only, the first channel.
inline Index strongest_channel(const Eigen::Ref<const Vector<double>>& share) {
  const double largest = share.size() > 0 ? share.cwiseAbs().maxCoeff() : 0;
  Index channel = 0;
  while (channel < share.size() && std::abs(share(channel)) < (1 - 1e-6) * largest) ++channel;
  return channel;
}

}  // namespace demix
