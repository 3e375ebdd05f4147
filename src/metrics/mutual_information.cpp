#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/random.hpp"

/// Entropies by spacings (Vasicek 1976): with y_(1) <= ... <= y_(n) and m = sqrt(n),
///   H(y) = mean_t log((n + 1)/m (y_(t+m) - y_(t)))
namespace demix {
namespace {

// In nats. Values that tie are told apart by noise far below what any recording holds.
double entropy(const Vector<double>& y, Random& random) {
  const double deviation = std::sqrt((y.array() - y.mean()).square().mean());
  if (!(deviation > 0)) throw std::invalid_argument("X: a channel or an output that never changes");
  const Index n = y.size();
  const auto m = static_cast<Index>(std::sqrt(static_cast<double>(n)));
  Vector<double> v(n);
  for (Index t = 0; t < n; ++t) v(t) = y(t) / deviation + 1e-9 * random.normal();
  std::sort(v.begin(), v.end());
  const Eigen::ArrayXd spacing = (v.tail(n - m) - v.head(n - m)).array();
  return (spacing * (static_cast<double>(n + 1) / static_cast<double>(m))).log().mean() + std::log(deviation);
}

double entropies(const Matrix<double>& Y) {
  Random random(5);
  double sum = 0;
  for (Index i = 0; i < Y.rows(); ++i) sum += entropy(Y.row(i).transpose(), random);
  return sum;
}

}  // namespace

double mutual_information_reduction(const Matrix<double>& unmixing, const Frames<double>& X) {
  if (unmixing.rows() != unmixing.cols() || unmixing.cols() != X.rows()) {
    throw std::invalid_argument("unmixing: expected " + std::to_string(X.rows()) + " x " +
                                std::to_string(X.rows()) + ", one row and column per channel, got " +
                                std::to_string(unmixing.rows()) + " x " + std::to_string(unmixing.cols()));
  }
  if (X.cols() < 4) throw std::invalid_argument("X: expected at least 4 frames");
  if (!X.allFinite() || !unmixing.allFinite()) throw std::invalid_argument("X: a value is not finite");
  return entropies(X) - entropies(unmixing * X) + std::log(std::abs(determinant(unmixing)));
}

}  // namespace demix
