#include "online/moving_sums.hpp"

namespace demix {

void MovingSums::begin(const ReservoirPass& sample, const WhiteCoordinates& white, Index r) {
  const double count = white.count();
  const double factor = count / sample.frames();
  sums_.assign(sample.sums(), factor);
  apart_.setZero();
  apart_mean_.setZero();
  apart_mean_.head(r) = factor * sample.sum().head(r) - count * white.mean().head(r);
  for (Index j = 0; j < r; ++j) {
    apart_.col(j).head(r) = factor * sample.scatter().col(j).head(r) - white.scatter().col(j).head(r) -
                            (count * white.mean()(j)) * white.mean().head(r);
  }
}

void MovingSums::scale(double factor) {
  sums_.scale(factor);
  apart_ *= factor;
  apart_mean_ *= factor;
}

void MovingSums::expectations(const WhiteCoordinates& white, Index r, Expectations& e) {
  const double n = white.count();
  const auto m = white.mean().head(r);
  const auto a = apart_mean_.head(r);
  mean_.head(r) = m + a / n;
  e.s.head(r) = sums_.s.head(r) / n;
  for (Index j = 0; j < r; ++j) {
    e.S.col(j).head(r) =
        (white.scatter().col(j).head(r) + apart_.col(j).head(r)) / n - (m * a(j) + a * (m(j) + a(j) / n)) / n;
    e.T.col(j).head(r) = sums_.T.col(j).head(r) / n - sums_.t.head(r) * (mean_(j) / n);
    e.D.col(j).head(r) = sums_.D.col(j).head(r) / n;
  }
}

void MovingSums::move(const Matrix<double>& A, const Vector<double>& mean, Index r) {
  for (Index j = 0; j < r; ++j) sums_.T.col(j).head(r) -= sums_.t.head(r) * mean(j);
  sums_.t.head(r) -= sums_.s.head(r).cwiseProduct(mean.head(r));
  sums_.fourth.head(r).array() *= A.diagonal().head(r).array().square().square();
  product_transposed(sums_.T, A, r, r, r, work_);
  for (Index j = 0; j < r; ++j) {  // E <- A - I
    sums_.T.col(j).head(r) = work_.col(j).head(r) + A.col(j).head(r).cwiseProduct(sums_.D.col(j).head(r));
    sums_.T(j, j) -= sums_.D(j, j);
  }
  // apart <- A (apart - mean apart_mean^T - apart_mean mean^T) A^T
  for (Index j = 0; j < r; ++j) {
    apart_.col(j).head(r) -= mean.head(r) * apart_mean_(j) + apart_mean_.head(r) * mean(j);
  }
  transform_symmetric(A, r, apart_, work_);
  mean_.setZero();
  for (Index j = 0; j < r; ++j) mean_.head(r) += apart_mean_(j) * A.col(j).head(r);
  apart_mean_.swap(mean_);
}

}  // namespace demix
