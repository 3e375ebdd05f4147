#include "demix/scalp_map.hpp"

#include <Eigen/Dense>

#include <cmath>
#include <limits>
#include <numbers>
#include <stdexcept>

/// Spherical splines: v(x) = c0 + sum_i c_i g(x . x_i),
///   g(t) = 1/(4 pi) sum_n (2n + 1) / (n (n + 1))^4 P_n(t)
/// with the c that give the values at the electrodes, and sum_i c_i = 0.
namespace demix::eeg {
namespace {

constexpr double ring = 92 * std::numbers::pi / 180;  // from Cz: the edge of the head that is drawn
constexpr double regularisation = 1e-5;
constexpr int polynomials = 50;

double g(double t) {
  double before = 1;  // P_(n-1)
  double now = t;     // P_n
  double sum = 0;
  for (int n = 1; n <= polynomials; ++n) {
    const double k = n;
    sum += (2 * k + 1) / std::pow(k * (k + 1), 4) * now;
    const double next = ((2 * k + 1) * t * now - k * before) / (k + 1);
    before = now;
    now = next;
  }
  return sum / (4 * std::numbers::pi);
}

// The direction that is drawn there.
Eigen::Vector3d direction_at(double x, double y) {
  const double r = std::hypot(x, y);
  const double angle = r * ring;
  const double across = r > 0 ? std::sin(angle) / r : 0;
  return {across * x, across * y, std::cos(angle)};
}

}  // namespace

Matrix<double> spline_weights(const Matrix<double>& from, const Matrix<double>& to) {
  if (from.rows() != 3 || to.rows() != 3 || from.cols() == 0) {
    throw std::invalid_argument("from, to: expected directions in columns of 3");
  }
  const Index n = from.cols();
  Matrix<double> system = Matrix<double>::Ones(n + 1, n + 1);
  system.topLeftCorner(n, n) = (from.transpose() * from).unaryExpr(&g);
  system.topLeftCorner(n, n).diagonal().array() += regularisation;
  system(n, n) = 0;
  Matrix<double> reach = Matrix<double>::Ones(to.cols(), n + 1);
  reach.leftCols(n) = (to.transpose() * from).unaryExpr(&g);
  // The system is symmetric: W^T = S^-1 reach^T.
  const Matrix<double> solved = system.fullPivLu().solve(reach.transpose());
  return solved.topRows(n).transpose();
}

std::array<double, 2> drawn_at(double x, double y, double z) {
  const double across = std::hypot(x, y);
  const double r = std::atan2(across, z) / ring;
  return across > 0 ? std::array{r * x / across, r * y / across} : std::array{0., 0.};
}

ScalpMaps scalp_maps(const Positions& positions, const Matrix<double>& values, Index size) {
  if (size < 2) throw std::invalid_argument("size: expected at least 2");
  if (std::ssize(positions) != values.rows()) {
    throw std::invalid_argument("values: expected " + std::to_string(positions.size()) + " rows, got " +
                                std::to_string(values.rows()));
  }
  ScalpMaps out;
  const Directions d = directions_of(positions);
  if (d.unit.cols() < 4) return out;
  out.size = size;
  out.channels = d.channels;
  double farthest = 1;
  for (const auto& u : d.unit.colwise()) {
    out.electrodes.push_back(drawn_at(u(0), u(1), u(2)));
    farthest = std::max(farthest, std::hypot(out.electrodes.back()[0], out.electrodes.back()[1]));
  }
  out.radius = std::min(farthest, 1.5) + 0.04;
  Matrix<double> known(d.unit.cols(), values.cols());
  for (Index k = 0; k < known.rows(); ++k) known.row(k) = values.row(d.channels[static_cast<std::size_t>(k)]);

  const double step = 2 * out.radius / static_cast<double>(size);
  Matrix<double> points(3, size * size);
  for (Index i = 0; i < size; ++i) {
    for (Index j = 0; j < size; ++j) {
      points.col(i * size + j) = direction_at(-out.radius + (static_cast<double>(j) + 0.5) * step,
                                              out.radius - (static_cast<double>(i) + 0.5) * step);
    }
  }
  out.at_electrodes = spline_weights(d.unit, d.unit) * known;
  const Matrix<double> all = spline_weights(d.unit, points) * known;
  for (Index k = 0; k < values.cols(); ++k) {
    const Matrix<double> column = all.col(k);
    out.grids.push_back(
        Eigen::Map<const Matrix<double>>(column.data(), size, size).transpose().cast<float>());
  }
  return out;
}

}  // namespace demix::eeg
