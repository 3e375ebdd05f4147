#include "demix/whitening.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "demix/linear_algebra.hpp"

namespace demix {

void WhiteningOptions::validate() const {
  if (components < 0)
    throw std::invalid_argument("components: expected 0 or more, got " + std::to_string(components));
  if (!(share >= 0 && share <= 1))
    throw std::invalid_argument("share: expected between 0 and 1, got " + std::to_string(share));
  if (!(rank_tolerance >= 0 && rank_tolerance < 1)) {
    throw std::invalid_argument("rank_tolerance: expected in [0, 1), got " + std::to_string(rank_tolerance));
  }
}

Whitening whiten(const Moments& moments, const WhiteningOptions& options) {
  Whitening out = whiten(moments.mean(), moments.covariance(), moments.resolution(), options);
  out.samples = moments.count();
  return out;
}

namespace {

// How many of the largest, which come last, hold this share of all.
Index holding(double share, const Vector<double>& ascending) {
  double sum = 0;
  Index kept = 0;
  while (kept < ascending.size() && sum < share * ascending.sum())
    sum += ascending(ascending.size() - ++kept);
  return std::max<Index>(1, kept);
}

// Before anything is divided by what may have overflowed.
void require_squares(const Eigen::ArrayXd& power, const Matrix<double>& C) {
  for (Index i = 0; i < C.rows(); ++i) {
    if (!std::isfinite(power(i)) || !C.col(i).allFinite()) {
      throw std::invalid_argument("X: the values of channel " + std::to_string(i + 1) +
                                  " are too large to square, or not finite; rescale or repair it");
    }
  }
}

}  // namespace

Whitening whiten(const Vector<double>& mean, const Matrix<double>& C, double resolution,
                 const WhiteningOptions& options) {
  options.validate();
  constexpr double eps = std::numeric_limits<double>::epsilon();
  const Index n = mean.size();
  if (C.rows() != n || C.cols() != n) {
    throw std::invalid_argument("covariance: expected one row and column for each of the " +
                                std::to_string(n) + " channels");
  }

  Whitening out;
  out.mean = mean;

  // What the data resolves: values near m are rounded by up to r|m|, a noise of variance (r m)^2 / 12.
  const Eigen::ArrayXd power = out.mean.array().square() + C.diagonal().array();
  require_squares(power, C);
  const Eigen::ArrayXd noise = power * resolution * resolution / 12;

  // x = mean + S xi, xi of unit variance where the channel varies at all
  Vector<double> S(n);
  double noise_share = 0;
  for (Index i = 0; i < n; ++i) {
    const bool varies = C(i, i) > 4 * noise(i);
    S(i) = varies ? std::sqrt(C(i, i)) : 0;
    if (varies) noise_share = std::max(noise_share, noise(i) / C(i, i));
    if (!varies) out.constant.push_back(i);
  }
  if (static_cast<Index>(out.constant.size()) == n) {
    throw std::invalid_argument("X: every channel is constant; there is nothing to separate");
  }
  const Vector<double> S_inv = S.unaryExpr([](double s) { return s > 0 ? 1 / s : 0.0; });

  // correlation = V E V^T
  const Eigenpairs eig = symmetric_eigen(S_inv.asDiagonal() * C * S_inv.asDiagonal());
  out.eigenvalues = eig.values.reverse().cwiseMax(0);
  const Matrix<double> V = eig.vectors.rowwise().reverse();

  const auto size = static_cast<double>(n);
  const double tolerance =
      options.rank_tolerance > 0 ? options.rank_tolerance : size * std::max(64 * eps, noise_share);
  out.rank = (out.eigenvalues.array() > tolerance * out.eigenvalues(0)).count();
  const Index r = out.rank;
  if (r == 0) {
    throw std::invalid_argument(
        "X: nothing varies by more than the rounding of its values; there is nothing to separate");
  }
  out.condition = std::sqrt(out.eigenvalues(0) / out.eigenvalues(r - 1));

  // P = E^-1/2 V^T S^-1,   P^+ = S V E^1/2
  const Vector<double> root = out.eigenvalues.head(r).cwiseSqrt();
  out.whitener = root.cwiseInverse().asDiagonal() * V.leftCols(r).transpose() * S_inv.asDiagonal();
  out.dewhitener = S.asDiagonal() * V.leftCols(r) * root.asDiagonal();

  if ((options.components > 0 && options.components < r) || (options.share > 0 && options.share < 1)) {
    // Principal components in the channels' own units: a rotation U of h that orders P^+ by the power it
    // carries.
    const Eigenpairs pca = symmetric_eigen(out.dewhitener.transpose() * out.dewhitener);
    const Index kept = std::min(options.components > 0 ? options.components : r,
                                options.share > 0 ? holding(options.share, pca.values) : r);
    const Matrix<double> U = pca.vectors.rightCols(kept).rowwise().reverse();
    out.whitener = U.transpose() * out.whitener;
    out.dewhitener = out.dewhitener * U;
  }
  return out;
}

}  // namespace demix
