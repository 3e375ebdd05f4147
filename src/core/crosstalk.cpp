#include "demix/crosstalk.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/blocks.hpp"
#include "core/crosstalk_sums.hpp"

namespace demix {

void CrosstalkSums::add(const LineMatrix<double>& Y, Index d, const double* weights) {
  if (m0_.size() == 0) m0_ = m1_ = m2_ = k_ = Matrix<double>::Zero(d, d);
  Vector<double> length;
  squared_lengths(Y, d, length);
  Vector<double> w = length;
  if (weight_ != Weight::square) w = length.unaryExpr([&](double a) { return weight_value(weight_, a); });
  const Vector<double> slope = length.unaryExpr([&](double a) { return weight_derivative(weight_, a); });
  Vector<double> own = Vector<double>::Ones(Y.cols());
  if (weights) own = Eigen::Map<const Vector<double>>(weights, Y.cols());
  Scratch<double> scratch[4];
  LineMatrix<double>& squares = *scratch[0];
  LineMatrix<double>& owned = *scratch[1];
  LineMatrix<double>& weighted = *scratch[2];
  LineMatrix<double>& sloped = *scratch[3];
  squares.resize(Y.rows(), Y.cols());
  const Index filled = lane_rows<double>(d);
  squares.topRows(filled) = Y.topRows(filled).array().square();  // y_i^2
  weigh(squares, d, own.data(), owned);
  add_scatter(owned, squares, m0_);
  weigh(squares, d, w.data(), weighted);
  add_scatter(owned, weighted, m1_);
  weigh(squares, d, slope.data(), sloped);
  add_scatter(owned, sloped, k_);
  weigh(owned, d, w.data(), owned);
  add_scatter(owned, weighted, m2_);
  total_ += own.sum();
}

void CrosstalkSums::merge(const CrosstalkSums& other) {
  if (other.m0_.size() == 0) return;
  if (m0_.size() == 0) {
    *this = other;
    return;
  }
  total_ += other.total_;
  m0_ += other.m0_;
  m1_ += other.m1_;
  m2_ += other.m2_;
  k_ += other.k_;
}

Matrix<double> CrosstalkSums::crosstalk(const Vector<double>& D, double samples) const {
  const Index d = D.size();
  Matrix<double> deviation = Matrix<double>::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      if (i == j) continue;
      const Index row = std::max(i, j);
      const Index column = std::min(i, j);
      const double centre = D(i) + 2 * k_(row, column) / total_;
      const double variance =
          (m2_(row, column) - 2 * centre * m1_(row, column) + centre * centre * m0_(row, column)) / total_;
      const double gap = std::max(std::abs(D(i) - D(j)), std::numeric_limits<double>::min());
      deviation(i, j) = std::sqrt(std::max(variance, 0.0) / samples) / gap;
    }
  }
  return deviation;
}

Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight, std::int64_t samples) {
  CrosstalkSums sums(weight);
  Vector<double> D = Vector<double>::Zero(Y.rows());
  Vector<double> w;
  for_each_centred_block(Y, Vector<double>::Zero(Y.rows()), nullptr, [&](const Block<double>& block) {
    sums.add(block.x, Y.rows(), nullptr);
    squared_lengths(block.x, Y.rows(), w);
    for (double& v : w) v = weight_value(weight, v);
    D += block.x.topRows(Y.rows()).array().square().matrix() * w;
  });
  return sums.crosstalk(D / static_cast<double>(Y.cols()),
                        static_cast<double>(samples > 0 ? samples : Y.cols()));
}

}  // namespace demix
