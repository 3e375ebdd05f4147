#include "demix/moments.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/blocks.hpp"
#include "core/four_channels.hpp"
#include "core/frame_kernels.hpp"

namespace demix {

void require_finite(const Frames<double>& X, std::int64_t before) {
  if (X.allFinite()) return;
  for (Index t = 0; t < X.cols(); ++t) {
    for (Index i = 0; i < X.rows(); ++i) {
      if (!std::isfinite(X(i, t))) {
        throw std::invalid_argument("X: value " + std::string(std::isnan(X(i, t)) ? "NaN" : "Inf") +
                                    " in channel " + std::to_string(i + 1) + ", frame " +
                                    std::to_string(before + t + 1) +
                                    "; remove or repair frames with NaN or Inf first");
      }
    }
  }
}

namespace {

constexpr Index piece_frames = 512;  // centred together

// Close to the mean, for little work: that of the first frames.
template <typename T>
Vector<double> mean_of_some(const Frames<T>& X, const double* weights) {
  constexpr Index some = 32;
  Vector<double> sum = Vector<double>::Zero(X.rows());
  Index count = 0;
  for (Index t = 0; t < X.cols() && count < some; ++t) {
    if (weights && weights[t] == 0) continue;
    sum += X.col(t).template cast<double>();
    ++count;
  }
  return sum / static_cast<double>(std::max<Index>(1, count));
}

}  // namespace

Moments::Moments(Index channels)
    : origin_(Vector<double>::Zero(channels)),
      mean_(Vector<double>::Zero(channels)),
      scatter_(Matrix<double>::Zero(channels, channels)) {}

template <typename T>
void Moments::add_frames(const Frames<T>& X, const double* weights) {
  if (X.rows() != channels()) {
    throw std::invalid_argument("X: expected " + std::to_string(channels()) + " channels, got " +
                                std::to_string(X.rows()));
  }
  resolution_ = std::max(resolution_, static_cast<double>(std::numeric_limits<T>::epsilon()));
  Scratch scratch;
  LineMatrix<double>& weighed = *scratch;
  for (Index start = 0; start < X.cols(); start += piece_frames) {
    const auto x = X.middleCols(start, std::min(piece_frames, X.cols() - start));
    const double* some = weights ? weights + start : nullptr;
    const Vector<double> near = mean_of_some<T>(x, some);
    if constexpr (std::is_same_v<T, double>) {
      if (channels() == 4 && !weights) {
        add_four(x, near);
        continue;
      }
    }
    Moments one(channels());
    one.origin_ = near;
    Vector<double> sum = Vector<double>::Zero(channels());
    for_each_centred_block(Frames<T>(x), near, some, [&](const Block<double>& block) {
      const Eigen::Map<const Eigen::ArrayXd> w(block.weights, block.weights ? block.frames() : 0);
      one.count_ += block.weights ? (w > 0).count() : block.frames();
      one.weight_ += block.total();
      one.squares_ += block.weights ? w.square().sum() : block.total();
      if (block.weights) weigh(block.x, channels(), block.weights, weighed);
      const LineMatrix<double>& by_weight = block.weights ? weighed : block.x;
      add_sums(by_weight, sum);
      add_scatter(by_weight, block.x, one.scatter_, block.ahead);
    });
    if (one.weight_ > 0) merge_centred(one, sum);
  }
}

void Moments::add_four(const Frames<double>& X, const Vector<double>& near) {
  Moments one(4);
  one.origin_ = near;
  one.count_ = X.cols();
  one.weight_ = one.squares_ = static_cast<double>(X.cols());
  Vector<double> sum = Vector<double>::Zero(4);
  add_scatter_of_four(X, near, sum, one.scatter_);
  merge_centred(one, sum);
}

// `one` has its scatter around its origin; sum: of what is off it, which is small, so that what it adds to
// the scatter can be taken away again.
void Moments::merge_centred(Moments& one, const Vector<double>& sum) {
  one.mean_ = sum / one.weight_;
  one.scatter_.selfadjointView<Eigen::Lower>().rankUpdate(one.mean_, -one.weight_);
  merge(one);
}

void Moments::add(const AnyFrames& X, const double* weights) {
  std::visit([&](const auto& x) { add_frames(x, weights); }, X);
}

// scatter <- scatter_a + scatter_b + (n_a n_b / n) delta delta^T,   delta = mean_b - mean_a
void Moments::merge(const Moments& other) {
  if (other.channels() != channels()) throw std::invalid_argument("merge: different number of channels");
  resolution_ = std::max(resolution_, other.resolution_);
  if (other.weight_ == 0) return;
  if (weight_ == 0) origin_ = other.origin_;
  const double n = weight_ + other.weight_;
  const Vector<double> delta = other.mean_ + (other.origin_ - origin_) - mean_;
  mean_ += (other.weight_ / n) * delta;
  scatter_ += other.scatter_;
  scatter_.selfadjointView<Eigen::Lower>().rankUpdate(delta, weight_ * other.weight_ / n);
  weight_ = n;
  squares_ += other.squares_;
  count_ += other.count_;
}

Matrix<double> Moments::covariance() const {
  if (weight_ == 0) return Matrix<double>::Zero(channels(), channels());
  return Matrix<double>(scatter_.selfadjointView<Eigen::Lower>()) / weight_;
}

struct WeightedMoments::Basis {
  Vector<double> mean;
  Matrix<double> P;
  Qr factors;            // P = Q R
  Multiplier<double> R;  // to multiply by the triangle takes half the time
  Weight weight;
};

WeightedMoments::WeightedMoments(Vector<double> mean, Matrix<double> P, Weight weight) {
  if (P.cols() != mean.size()) throw std::invalid_argument("P: one column per channel expected");
  Qr factors = qr(P);
  sum_ = Matrix<double>::Zero(factors.R.rows(), factors.R.rows());
  Multiplier<double> R(factors.R);
  basis_ = std::make_shared<const Basis>(
      Basis{std::move(mean), std::move(P), std::move(factors), std::move(R), weight});
}

void WeightedMoments::add(const AnyFrames& X, const double* weights) {
  const Index channels = std::visit([](const auto& x) { return x.rows(); }, X);
  if (channels != basis_->mean.size()) {
    throw std::invalid_argument("X: expected " + std::to_string(basis_->mean.size()) + " channels, got " +
                                std::to_string(channels));
  }
  const Matrix<double>& R = basis_->factors.R;
  const auto* doubles = std::get_if<Frames<double>>(&X);
  if (doubles && R.rows() == 4 && R.cols() == 4 && !weights && basis_->weight == Weight::square) {
    add_weighted_scatter_of_four(*doubles, basis_->mean, R, sum_);
    total_ += static_cast<double>(doubles->cols());
    count_ += doubles->cols();
    return;
  }
  Scratch scratch;
  LineMatrix<double>& r = *scratch;  // R (x - mean); h = Q r is as long
  Vector<double> w;
  for_each_centred_block(X, basis_->mean, weights, [&](const Block<double>& block) {
    multiply(basis_->R, block.x, r, block.ahead);
    squared_lengths(r, R.rows(), w);
    if (basis_->weight != Weight::square) {
      for (double& v : w) v = weight_value(basis_->weight, v);
    }
    if (block.weights) w.array() *= Eigen::Map<const Eigen::ArrayXd>(block.weights, w.size());
    w = w.cwiseSqrt();
    weigh(r, R.rows(), w.data(), r);
    add_scatter(r, r, sum_);  // w r r^T
    total_ += block.total();
    count_ += block.frames();
  });
}

void WeightedMoments::merge(const WeightedMoments& other) {
  if (basis_ != other.basis_ && (other.basis_->weight != basis_->weight ||
                                 other.basis_->mean != basis_->mean || other.basis_->P != basis_->P)) {
    throw std::invalid_argument("merge: the two sums must share mean, P and weight");
  }
  sum_ += other.sum_;
  total_ += other.total_;
  count_ += other.count_;
}

Matrix<double> WeightedMoments::covariance() const {
  const double n = total_ > 0 ? total_ : 1;
  const Matrix<double> all = sum_.selfadjointView<Eigen::Lower>();
  const Matrix<double>& Q = basis_->factors.Q;
  const Matrix<double> C = Q * (all / n) * Q.transpose();
  return (C + C.transpose()) / 2;
}

}  // namespace demix
