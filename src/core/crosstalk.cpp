#include "demix/crosstalk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blocks.hpp"
#include "core/crosstalk_sums.hpp"

namespace demix {

CrosstalkSums::CrosstalkSums(Index components, Weight weight)
    : weight_(weight),
      D_(Vector<double>::Zero(components)),
      m0_(Matrix<double>::Zero(components, components)),
      m1_(m0_),
      m2_(m0_),
      k_(m0_) {}

void CrosstalkSums::add(const Matrix<double>& Y, Index frames, const double* weights, bool all) {
  Vector<double> length;
  squared_lengths(Y, length);
  Vector<double> w = length;
  if (weight_ != Weight::square) w = length.unaryExpr([&](double a) { return weight_value(weight_, a); });
  Vector<double> own;
  if (weights) own = Eigen::Map<const Vector<double>>(weights, Y.rows());
  const double total = weights ? own.sum() : static_cast<double>(frames);
  add_weighted_squares(Y, weights ? Vector<double>(w.cwiseProduct(own)) : w, D_);
  total_ += total;
  if (!all) return;

  const Vector<double> slope = length.unaryExpr([&](double a) { return weight_derivative(weight_, a); });
  Scratch<double> rooms[4];
  Matrix<double>& squares = *rooms[0];
  Matrix<double>& owned = *rooms[1];
  Matrix<double>& weighted = *rooms[2];
  Matrix<double>& sloped = *rooms[3];
  squares = Y.array().square();  // y_i^2
  owned = squares;
  if (weights) weigh(squares, weights, owned);
  add_scatter(owned, squares, m0_);
  weigh(squares, w.data(), weighted);
  add_scatter(owned, weighted, m1_);
  weigh(squares, slope.data(), sloped);
  add_scatter(owned, sloped, k_);
  weigh(owned, w.data(), owned);
  add_scatter(owned, weighted, m2_);
  some_ += total;
}

void CrosstalkSums::merge(const CrosstalkSums& other) {
  total_ += other.total_;
  some_ += other.some_;
  D_ += other.D_;
  m0_ += other.m0_;
  m1_ += other.m1_;
  m2_ += other.m2_;
  k_ += other.k_;
}

Matrix<double> CrosstalkSums::crosstalk(double samples) const {
  const Index d = D_.size();
  Matrix<double> deviation = Matrix<double>::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      if (i == j) continue;
      const Index row = std::max(i, j);
      const Index column = std::min(i, j);
      const double D = D_(i) / total_;
      const double centre = D + 2 * k_(row, column) / some_;
      const double variance =
          (m2_(row, column) - 2 * centre * m1_(row, column) + centre * centre * m0_(row, column)) / some_;
      const double gap = std::max(std::abs(D - D_(j) / total_), std::numeric_limits<double>::min());
      deviation(i, j) = std::sqrt(std::max(variance, 0.0) / samples) / gap;
    }
  }
  return deviation;
}

Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight, std::int64_t samples) {
  CrosstalkSums sums(Y.rows(), weight);
  for_each_centred_block<double>(
      Y, Vector<double>::Zero(Y.rows()),
      [&](const Matrix<double>& block, Index frames) { sums.add(block, frames, nullptr, true); });
  return sums.crosstalk(static_cast<double>(samples > 0 ? samples : Y.cols()));
}

}  // namespace demix
