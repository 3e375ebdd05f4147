#include "demix/natural_network.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "core/archive.hpp"
#include "demix/lambda.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "demix/whitening.hpp"
#include "online/kernels.hpp"

namespace demix {
namespace {

// C^-1/2, directions of no power left alone
Matrix<double> inverse_root(const Matrix<double>& C) {
  const Eigenpairs eig = symmetric_eigen(C);
  const double floor = 1e-14 * std::max(eig.values.maxCoeff(), std::numeric_limits<double>::min());
  return eig.vectors * eig.values.cwiseMax(floor).cwiseSqrt().cwiseInverse().asDiagonal() *
         eig.vectors.transpose();
}

// The rotation nearest to A.
Matrix<double> polar(const Matrix<double>& A) { return inverse_root(A * A.transpose()) * A; }

constexpr std::int64_t resync = 256;  // frames between exact inversions of M; a multiple of kernels::gathered

}  // namespace

void NaturalNetworkOptions::validate(Index inputs) const {
  if (inputs < 1) throw std::invalid_argument("inputs: expected at least 1, got " + std::to_string(inputs));
  if (components < 0 || components > inputs) {
    throw std::invalid_argument("components: expected 0 to " + std::to_string(inputs) + ", got " +
                                std::to_string(components));
  }
  require_distinct(lambda2);
}

template <typename T>
NaturalNetwork<T>::NaturalNetwork(Index inputs, const NaturalNetworkOptions& options)
    : outputs_(options.components > 0 ? options.components : inputs),
      warm_up_(std::max<Index>(100, 4 * inputs)),
      options_(options),
      next_refresh_(warm_up_) {
  options.validate(inputs);
  if (options.lambda2.size() > 0 && options.lambda2.size() != outputs_) {
    throw std::invalid_argument("lambda2: expected " + std::to_string(outputs_) + " values, got " +
                                std::to_string(options.lambda2.size()));
  }
  const Index ld = kernels::leading<double>(inputs);
  mean_ = Vector<double>::Zero(inputs);
  scatter_ = Matrix<double>::Zero(ld, inputs);
  x_ = u_ = Vector<double>::Zero(ld);
  late_scatter_.resize(ld);
}

template <typename T>
Matrix<double> NaturalNetwork<T>::covariance() const {
  const Matrix<double> S = late_scatter_.with(scatter_, inputs()) / static_cast<double>(frames_);
  return (S + S.transpose()) / 2;
}

template <typename T>
Matrix<double> NaturalNetwork<T>::lateral() const {
  return d_ > 0 ? late_M_.with(M_, d_) : Matrix<double>(0, 0);
}

template <typename T>
void NaturalNetwork<T>::note(NetworkTrace& trace) const {
  std::optional<double> ltp;
  if (d_ > 0) ltp = share_of_ltp(lambda2_.head(d_), y_.head(d_), c_.head(d_), modulator_);
  trace.add(ltp, [&] {
    return NetworkMoment{feedforward(), lateral(), c_.head(d_), y_.head(d_), modulator_};
  });
}

template <typename T>
bool NaturalNetwork<T>::respond(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y) {
  const Index n = inputs();
  if (x.size() != n || y.size() != outputs_) {
    throw std::invalid_argument("step: expected " + std::to_string(n) + " inputs and " +
                                std::to_string(outputs_) + " outputs, got " + std::to_string(x.size()) +
                                " and " + std::to_string(y.size()));
  }
  x_.head(n) = x.template cast<double>() - mean_;
  y.setZero();
  if (!(x_.squaredNorm() < 1e290)) return false;
  if (d_ > 0) {  // y <- B (x - mean)
    kernels::project(B_.data(), B_.rows(), d_, n, x_.data(), y_.data());
    y.head(d_) = y_.head(d_).template cast<T>();
  }
  return true;
}

// mean and scatter, Welford's way; x_ holds x from the mean before it, u_ will from the one after
template <typename T>
void NaturalNetwork<T>::observe() {
  const Index n = inputs();
  ++frames_;
  const auto t = static_cast<double>(frames_);
  u_ = ((t - 1) / t) * x_;
  late_scatter_.add(scatter_, n, 1, (t - 1) / t, x_);  // scatter <- scatter + (t - 1)/t x x^T
  mean_ += x_.head(n) / t;
  if (frames_ == next_refresh_) refresh();
}

template <typename T>
bool NaturalNetwork<T>::step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y) {
  if (!respond(x, y)) return refuse();
  observe();
  if (d_ > 0) learn();
  return true;
}

template <typename T>
bool NaturalNetwork<T>::step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y,
                             const Eigen::Ref<const Vector<T>>& replayed) {
  if (!respond(x, y)) return refuse();
  observe();
  u_.head(inputs()) = replayed.template cast<double>() - mean_;
  if (d_ > 0) learn();
  return true;
}

template <typename T>
void NaturalNetwork<T>::learn() {
  const Index n = inputs();
  const Index ld = W_.rows();
  ++learned_;
  if (learned_ < 256 ||
      learned_ % 16 == 0) {  // it changes slowly, and a power costs as much as a small network
    eta_ = std::min(0.1, 8 / std::pow(50 + static_cast<double>(learned_), 0.6));
  }
  // Where the modulator falls with activity, W grows with its own outputs until M has caught up: M must be
  // faster than W, and both slower.
  const bool falls = options_.weight == Weight::reciprocal;
  const double eta = falls ? 0.2 * eta_ : eta_;
  const double mu = (falls ? 1.5 : 0.6) * eta;

  kernels::project(P_.data(), ld, d_, n, u_.data(), h_.data());   // h <- P (x - mean)
  kernels::project(W_.data(), ld, d_, d_, h_.data(), c_.data());  // c <- W h
  kernels::project(K_.data(), ld, d_, d_, c_.data(), y_.data());  // y <- M^-1 c
  const double a = y_.head(d_).squaredNorm();
  const double hh = h_.head(d_).squaredNorm();
  if (!(a < 1e100 && hh < 1e100)) return;  // so far out that its products are no numbers

  // W <- W + eta s (Lambda^2 y - f c) / (1 + eta s f ||h||^2) h^T
  const double f = options_.weight == Weight::square ? a : unit_ * weight_value(options_.weight, a);
  modulator_ = f;
  const double s = eta / static_cast<double>(d_ + 2);
  v_ = (s / (1 + s * f * hh)) * (lambda2_.cwiseProduct(y_) - f * c_);
  kernels::feedforward_learn(W_.data(), ld, d_, d_, v_.data(), h_.data());

  // M <- (1 - w) M + w v v^T,  v_i = sqrt(M_ii) y_i,  w = mu/(1 + mu a). Decay is damped like growth: were it
  // not, M could not hold a total activity of d against it where mu > 1/d, and would vanish.
  const double w = mu / (1 + mu * a);
  v_.head(d_) = M_diagonal_.head(d_).cwiseSqrt().cwiseProduct(y_.head(d_));
  kernels::project(K_.data(), ld, d_, d_, v_.data(), kv_.data());
  M_diagonal_ = (1 - w) * M_diagonal_ + w * v_.cwiseAbs2();
  late_M_.add(M_, d_, 1 - w, w, v_);
  // K <- M^-1: Sherman and Morrison
  const double scale = w / (1 - w + w * v_.head(d_).dot(kv_.head(d_))) / (1 - w);
  v_ = -scale * kv_;
  kernels::decay_learn(K_.data(), ld, d_, d_, 1 / (1 - w), v_.data(), kv_.data());
  if (learned_ % resync == 0) polish_inverse();

  if (learned_ % sampling() == 0) {  // sum <- sum + M^-1 W
    for (Index j = 0; j < d_; ++j) {
      kernels::project(K_.data(), ld, d_, d_, W_.col(j).data(), kv_.data());
      sum_.col(j) += static_cast<double>(sampling()) * kv_.head(d_);
    }
    if (learned_ >= noted_.back() + noted_.back() / 5 + 8) {
      rotations_.push_back(polar(sum_ - sums_.back()));
      noted_.push_back(learned_);
      sums_.push_back(sum_);
    }
  }
}

template <typename T>
void NaturalNetwork<T>::Late::resize(Index rows) {
  v = Matrix<double>::Zero(rows, kernels::gathered);
  weight = Vector<double>::Zero(kernels::gathered);
  decay = 1;
  size = 0;
}

template <typename T>
void NaturalNetwork<T>::Late::add(Matrix<double>& A, Index d, double keep, double w,
                                  const Vector<double>& new_v) {
  decay *= keep;
  weight *= keep;
  weight(size) = w;
  v.col(size) = new_v;
  if (++size < kernels::gathered) return;
  kernels::gathered_learn(A.data(), A.rows(), d, decay, v.data(), v.rows(), weight.data());
  weight.setZero();
  decay = 1;
  size = 0;
}

template <typename T>
void NaturalNetwork<T>::Late::loaded() const {
  require_state(size >= 0 && size < kernels::gathered, "more gathered frames than there is memory for");
}

template <typename T>
void NaturalNetwork<T>::loaded() const {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  require_state(frames_ >= 0 && frames_ < most && refused_ >= 0 && refused_ < most,
                "a number of frames out of range");
  require_state(next_refresh_ > frames_ && next_refresh_ < most, "a whitening that is overdue");
  require_state(learned_ >= 0 && learned_ <= frames_, "more frames learned than seen");
  require_state(M_diagonal_.size() == 0 || M_diagonal_.minCoeff() >= 0, "a negative diagonal of M");
  require_state(noted_.empty() == (d_ == 0), "an average of nothing");
  for (std::size_t k = 0; k < noted_.size(); ++k) {
    require_state(noted_[k] % sampling() == 0 && (k == 0 ? noted_[0] == 0 : noted_[k] > noted_[k - 1]),
                  "notes of the average out of order");
  }
  require_state(noted_.empty() || noted_.back() <= learned_, "notes of the average out of order");
  if (frames_ == 0) return;
  // Correlations are at most 1, give or take rounding: no whitening is of anything else.
  const Matrix<double> C = covariance();
  require_state(C.allFinite() && C.diagonal().minCoeff() >= 0, "a negative variance");
  const Vector<double> deviation = 1.001 * C.diagonal().cwiseSqrt();
  require_state((C.array().abs() <= (deviation * deviation.transpose()).array() + 1e-300).all(),
                "a correlation above 1");
}

template <typename T>
Matrix<double> NaturalNetwork<T>::Late::with(const Matrix<double>& A, Index d) const {
  const auto V = v.topRows(d);
  return decay * A.topLeftCorner(d, d) + V * weight.asDiagonal() * V.transpose();
}

// K <- K (2 I - M K), Newton's step for the inverse: what rounding has left in K after some hundred rank-one
// updates goes to the square of itself.
template <typename T>
void NaturalNetwork<T>::polish_inverse() {
  const Index ld = K_.rows();
  for (Index j = 0; j < d_; ++j) {  // fresh_ <- 2 K - K M K
    kernels::project(M_.data(), ld, d_, d_, K_.col(j).data(), v_.data());
    kernels::project(K_.data(), ld, d_, d_, v_.data(), kv_.data());
    fresh_.col(j) = 2 * K_.col(j) - kv_;
  }
  K_.swap(fresh_);
}

// The whitener follows the covariance by the smallest change that makes it right, so W and M need none. If
// the number of directions in the data has changed (a channel came alive, or fell behind the others'
// rounding), or what was learned has overflowed, the network starts anew.
template <typename T>
void NaturalNetwork<T>::refresh() {
  if (frames_ < warm_up_) return;
  next_refresh_ = frames_ + std::max<std::int64_t>(1, frames_ / 10);
  const Matrix<double> C = covariance();
  WhiteningOptions options;
  options.components = outputs_;
  Matrix<double> P;
  try {
    P = whiten(mean_, C, static_cast<double>(std::numeric_limits<T>::epsilon()), options).whitener;
  } catch (const std::invalid_argument&) {  // nothing varies: the next frames may
    return;
  }
  const bool finite = W_.allFinite() && K_.allFinite() && sum_.allFinite();
  if (P.rows() != d_ || !finite) start(P);
  // P <- R P, R the rotation that takes the new whitener closest to the old one
  P_.topRows(d_) = polar(P_.topRows(d_) * C * P.transpose()) * P;
  B_.topRows(d_) = averaged() * P_.topRows(d_);
}

template <typename T>
void NaturalNetwork<T>::resize(Index d) {
  d_ = d;
  const Index ld = kernels::leading<double>(d_);
  P_ = B_ = Matrix<double>::Zero(ld, inputs());
  W_ = K_ = M_ = fresh_ = Matrix<double>::Zero(ld, kernels::padded<double>(d_));
  h_ = c_ = y_ = v_ = kv_ = lambda2_ = M_diagonal_ = Vector<double>::Zero(ld);
  late_M_.resize(ld);
  sum_ = Matrix<double>::Zero(d_, d_);
  if (d_ > 0) unit_ = static_cast<double>(d_ + 2) / gaussian_weight(options_.weight, d_);
}

template <typename T>
void NaturalNetwork<T>::start(const Matrix<double>& whitener) {
  resize(whitener.rows());
  learned_ = 0;
  P_.topRows(d_) = whitener;
  lambda2_.head(d_) =
      options_.lambda2.size() > 0 ? Vector<double>(options_.lambda2.head(d_)) : geometric_lambda2(d_);
  // Where the fixed point would be if all sources were Gaussian: y is a rotation of h from the first frame.
  const Vector<double> m = lambda2_.head(d_) / static_cast<double>(d_ + 2);
  M_.topLeftCorner(d_, d_) = m.asDiagonal();
  M_diagonal_.head(d_) = m;
  K_.topLeftCorner(d_, d_) = m.cwiseInverse().asDiagonal();
  W_.topLeftCorner(d_, d_) = m.asDiagonal() * Random(options_.seed).orthogonal(d_);
  noted_ = {0};
  sums_ = {sum_};
  rotations_.clear();
}

// The rotation to put out: the average of M^-1 W over the newest half of the past, and further back as long
// as what was learned then agrees with that half up to the noise the half itself shows.
template <typename T>
Matrix<double> NaturalNetwork<T>::averaged() const {
  const auto blocks = rotations_.size();
  if (blocks < 6) return polar(K_.topLeftCorner(d_, d_) * W_.topLeftCorner(d_, d_));
  const auto length = [&](std::size_t b) { return static_cast<double>(noted_[b + 1] - noted_[b]); };

  // What is not yet a block of its own belongs to the newest half.
  Matrix<double> sum = sum_ - sums_.back();
  const std::int64_t summed = learned_ - learned_ % sampling();
  auto span = static_cast<double>(summed - noted_.back());
  std::size_t first = blocks;
  while (first > 1 && span < 0.5 * static_cast<double>(learned_)) {
    --first;
    sum += sums_[first + 1] - sums_[first];
    span += length(first);
  }
  const Matrix<double> late = polar(sum / span);
  const auto distance = [&](std::size_t b) { return (rotations_[b] - late).squaredNorm(); };
  double noise = 0;
  int counted = 0;
  for (std::size_t b = first; b < blocks; ++b) {
    noise += length(b) * distance(b);
    ++counted;
  }
  noise /= std::max(1, counted - 1);
  const double late_span = span;
  while (first > 0 && static_cast<double>(noted_[first - 1]) >= 0.04 * static_cast<double>(learned_)) {
    if (distance(first - 1) > 10 * noise * (1 / length(first - 1) + 1 / late_span)) break;
    --first;
    sum += sums_[first + 1] - sums_[first];
    span += length(first);
  }
  return polar(sum / span);
}

template <typename T>
Matrix<double> NaturalNetwork<T>::unmixing() const {
  if (d_ == 0) return Matrix<double>(0, inputs());
  const Matrix<double> P = P_.topRows(d_);
  return averaged() * inverse_root(P * covariance() * P.transpose()) * P;
}

template <typename T>
void NaturalNetwork<T>::process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y) {
  if (X.rows() != inputs() || Y.rows() != outputs_ || Y.cols() != X.cols()) {
    throw std::invalid_argument("process: X must have " + std::to_string(inputs()) + " rows, Y " +
                                std::to_string(outputs_) + ", and as many columns as each other");
  }
  for (Index t = 0; t < X.cols(); ++t) step(X.col(t), Y.col(t));
}

template class NaturalNetwork<float>;
template class NaturalNetwork<double>;

}  // namespace demix
