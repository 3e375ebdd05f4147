#include "online/white_outputs.hpp"

#include <cmath>

namespace demix {

void WhiteOutputs::begin(const WhiteCoordinates& white, Index r) {
  outputs_ = r;
  busy_ = true;
  white.covariance(r, work_);
  root_.begin(work_, r);
}

bool WhiteOutputs::work(const WhiteCoordinates& white) {
  if (!root_.work()) return false;
  busy_ = false;
  publish(white);
  return true;
}

void WhiteOutputs::publish(const WhiteCoordinates& white) {
  const Index n = white.channels();
  const Index r = rank_ = outputs_;
  white.covariance(n, work_);
  product(work_, root_.result(), n, r, r, product_);
  product(white.V_inverse(), product_, n, r, n, mixing_);
  product(root_.result(), white.V(), r, n, r, unmixing_);
  white.channel_mean(mean_);
  for (Index c = 0; c < n; ++c) deviation_(c) = mixing_.row(c).head(r).norm();
  for (Index k = 0; k < r; ++k) {
    Index strongest = 0;
    double most = -1;
    for (Index c = 0; c < n; ++c) {
      const double share = deviation_(c) > 0 ? std::abs(mixing_(c, k)) / deviation_(c) : 0;
      if (share > most) {
        most = share;
        strongest = c;
      }
    }
    if (mixing_(strongest, k) >= 0) continue;
    mixing_.col(k) *= -1;
    unmixing_.row(k).head(n) *= -1;
  }
}

}  // namespace demix
