#include "demix/moments.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/blocks.hpp"
#include "core/frame_kernels.hpp"

namespace demix {

void require_finite(const Frames<double>& X, std::int64_t before) {
  if (X.allFinite()) return;
  for (Index t = 0; t < X.cols(); ++t) {
    for (Index i = 0; i < X.rows(); ++i) {
      if (!std::isfinite(X(i, t))) {
        throw std::invalid_argument("X: value " + std::string(std::isnan(X(i, t)) ? "NaN" : "Inf") +
                                    " in channel " + std::to_string(i + 1) + ", frame " +
                                    std::to_string(before + t + 1) + "; remove or repair such frames first");
      }
    }
  }
}

Moments::Moments(Index channels)
    : origin_(Vector<double>::Zero(channels)),
      mean_(Vector<double>::Zero(channels)),
      scatter_(Matrix<double>::Zero(channels, channels)) {}

template <typename T>
void Moments::add_frames(const Frames<T>& X) {
  if (X.rows() != channels()) {
    throw std::invalid_argument("X: expected " + std::to_string(channels()) + " channels, got " +
                                std::to_string(X.rows()));
  }
  resolution_ = std::max(resolution_, static_cast<double>(std::numeric_limits<T>::epsilon()));
  if (X.cols() == 0) return;
  if (count_ == 0) origin_ = X.col(0).template cast<double>();
  Vector<double> mean;
  Matrix<double> scatter;
  for_each_centred_block<T>(X, origin_, [&](Matrix<double>& block, Index frames) {
    mean = block.colwise().sum().transpose() / static_cast<double>(frames);
    block.topRows(frames).rowwise() -= mean.transpose();
    scatter.setZero(channels(), channels());
    add_scatter(block, scatter);
    join(static_cast<double>(frames), mean, scatter);
    count_ += frames;
  });
}

void Moments::add(const Frames<float>& X) { add_frames<float>(X); }
void Moments::add(const Frames<double>& X) { add_frames<double>(X); }

void Moments::merge(const Moments& other) {
  if (other.channels() != channels()) throw std::invalid_argument("merge: different number of channels");
  resolution_ = std::max(resolution_, other.resolution_);
  if (other.count_ == 0) return;
  if (count_ == 0) origin_ = other.origin_;
  join(static_cast<double>(other.count_), other.mean_ + (other.origin_ - origin_), other.scatter_);
  count_ += other.count_;
}

// scatter <- scatter_a + scatter_b + (n_a n_b / n) delta delta^T,   delta = mean_b - mean_a
void Moments::join(double nb, const Vector<double>& mean, const Matrix<double>& scatter) {
  const auto na = static_cast<double>(count_);
  const double n = na + nb;
  const Vector<double> delta = mean - mean_;
  mean_ += (nb / n) * delta;
  scatter_ += scatter;
  scatter_.selfadjointView<Eigen::Lower>().rankUpdate(delta, na * nb / n);
}

Matrix<double> Moments::covariance() const {
  if (count_ == 0) return Matrix<double>::Zero(channels(), channels());
  return Matrix<double>(scatter_.selfadjointView<Eigen::Lower>()) / static_cast<double>(count_);
}

WeightedMoments::WeightedMoments(Vector<double> mean, Matrix<double> P, Weight weight)
    : mean_(std::move(mean)),
      P_(std::move(P)),
      factors_(qr(P_)),
      weight_(weight),
      sum_(Matrix<double>::Zero(factors_.R.rows(), factors_.R.rows())) {
  if (P_.cols() != mean_.size()) throw std::invalid_argument("P: one column per channel expected");
}

template <typename T>
void WeightedMoments::add_frames(const Frames<T>& X) {
  if (X.rows() != mean_.size()) {
    throw std::invalid_argument("X: expected " + std::to_string(mean_.size()) + " channels, got " +
                                std::to_string(X.rows()));
  }
  Matrix<double> r;  // R (x - mean); h = Q r is as long
  for_each_centred_block<T>(X, mean_, [&](Matrix<double>& block, Index frames) {
    multiply(block, factors_.R, r);
    Eigen::ArrayXd root = r.rowwise().squaredNorm();  // z = sqrt(w(||h||^2)) h
    for (double& v : root) v = std::sqrt(weight_value(weight_, v));
    root.tail(root.size() - frames).setZero();
    r.array().colwise() *= root;
    add_scatter(r, sum_);
    count_ += frames;
  });
}

void WeightedMoments::add(const Frames<float>& X) { add_frames<float>(X); }
void WeightedMoments::add(const Frames<double>& X) { add_frames<double>(X); }

void WeightedMoments::merge(const WeightedMoments& other) {
  if (other.weight_ != weight_ || other.mean_ != mean_ || other.P_ != P_) {
    throw std::invalid_argument("merge: the two sums must share mean, P and weight");
  }
  sum_ += other.sum_;
  count_ += other.count_;
}

Matrix<double> WeightedMoments::covariance() const {
  const double n = std::max<double>(1, static_cast<double>(count_));
  const Matrix<double> all = sum_.selfadjointView<Eigen::Lower>();
  const Matrix<double> C = factors_.Q * (all / n) * factors_.Q.transpose();
  return (C + C.transpose()) / 2;
}

}  // namespace demix
