#include "online/outlier_gate.hpp"

#include <algorithm>
#include <cmath>

#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

double quantile(Vector<double> v, double p) {
  const auto k = static_cast<Index>(p * static_cast<double>(v.size() - 1));
  std::nth_element(v.begin(), v.begin() + k, v.end());
  return v(k);
}

}  // namespace

// Centre by medians, scale by median deviations, then whiten by the frames that are not far out, and look
// again. The first round takes only their directions, so that no frame outweighs another.
std::vector<bool> OutlierGate::open(const Matrix<double>& first) {
  const Index n = first.rows();
  const Index frames = first.cols();
  Matrix<double> X = first;
  for (Index i = 0; i < n; ++i) {
    X.row(i).array() -= quantile(X.row(i).transpose(), 0.5);
    double scale = quantile(X.row(i).cwiseAbs().transpose(), 0.5);
    if (!(scale > 0)) scale = X.row(i).cwiseAbs().mean();
    if (scale > 0) X.row(i) /= scale;
  }
  std::vector<bool> keep(static_cast<std::size_t>(frames), true);
  Vector<double> a(frames);
  for (int round = 0; round < 5; ++round) {
    Matrix<double> rows(frames, n);
    Index kept = 0;
    for (Index t = 0; t < frames; ++t) {
      if (!keep[static_cast<std::size_t>(t)]) continue;
      const double length = round == 0 ? X.col(t).norm() : 1;
      rows.row(kept++) = X.col(t).transpose() / (length > 0 ? length : 1);
    }
    // a_t = x^T (R^T R)^-1 x; directions without power say nothing
    const PivotedQr qr = pivoted_qr(rows.topRows(kept));
    const Matrix<double> ordered = X(qr.order, Eigen::all);
    const Matrix<double> white =
        qr.R.transpose().triangularView<Eigen::Lower>().solve(ordered.topRows(qr.rank));
    a = white.colwise().squaredNorm().transpose() * static_cast<double>(kept);
    const double limit = 30 * quantile(a, 0.5);
    for (Index t = 0; t < frames; ++t) keep[static_cast<std::size_t>(t)] = a(t) <= limit;
  }
  if (!(quantile(a, 0.5) > 0)) return {};
  log_quantile_ = std::log(quantile(a, 0.9));
  return keep;
}

bool OutlierGate::passes(double activity) {
  if (activity < 1e-4 * std::exp(log_quantile_)) return true;  // a pause does not lower what is usual
  const double l = std::log(activity);
  const bool pass = l <= log_quantile_ + std::log(factor);
  log_quantile_ += 0.01 * ((l > log_quantile_ ? 1.0 : 0.0) - 0.1);
  return pass;
}

}  // namespace demix
