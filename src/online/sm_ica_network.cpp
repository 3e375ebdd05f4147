#include "demix/sm_ica_network.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "online/kernels.hpp"

namespace demix {

void SmIcaNetworkOptions::validate() const {
  const auto require = [](bool ok, const std::string& what) {
    if (!ok) throw std::invalid_argument(what);
  };
  require(std::isfinite(eta) && eta > 0, "eta: expected a positive number, got " + std::to_string(eta));
  // The paper's range. It does not keep M positive definite: step() checks that.
  require(std::isfinite(tau) && tau > eta,
          "tau: expected more than eta (which does not yet keep M positive definite), got " +
              std::to_string(tau));
  require(std::isfinite(gamma) && gamma >= 0, "gamma: expected 0 (automatic) or a positive number");
  require(std::isfinite(tolerance) && tolerance >= 0,
          "tolerance: expected 0 (automatic) or a positive number");
  require(max_iterations > 0, "max_iterations: expected at least 1, got " + std::to_string(max_iterations));
  require_distinct(lambda2);
}

const char* describe(NetworkStatus status) {
  switch (status) {
    case NetworkStatus::ok:
      return "ok";
    case NetworkStatus::bad_input:
      return "NaN or Inf in the input";
    case NetworkStatus::not_settled:
      return "the neural dynamics did not settle";
    case NetworkStatus::lateral_not_positive_definite:
      return "the lateral weights lost positive definiteness";
    case NetworkStatus::weights_not_finite:
      return "the feedforward weights left the finite range";
  }
  return "?";
}

template <typename T>
SmIcaNetwork<T>::SmIcaNetwork(Index inputs, Index outputs, const SmIcaNetworkOptions& options)
    : d_(outputs), options_(options) {
  options.validate();
  if (outputs < 1 || outputs > inputs) {
    throw std::invalid_argument("outputs: expected 1 to " + std::to_string(inputs) + " (the inputs), got " +
                                std::to_string(outputs));
  }
  if (options_.lambda2.size() == 0) options_.lambda2 = default_lambda2(outputs);
  if (options_.lambda2.size() != outputs) {
    throw std::invalid_argument("lambda2: expected " + std::to_string(outputs) + " values, got " +
                                std::to_string(options_.lambda2.size()));
  }
  if (options_.tolerance == 0) options_.tolerance = 64 * std::numeric_limits<T>::epsilon();

  const Index ld = kernels::leading<T>(d_);
  inverse_lambda2_ = Vector<T>::Zero(ld);
  inverse_lambda2_.head(d_) = options_.lambda2.cwiseInverse().template cast<T>();
  c_ = y_ = u_ = rest_ = Vector<T>::Zero(ld);
  scratch_ = Vector<T>::Zero(kernels::solve_scratch<T>(d_));
  set_weights(Random(options_.seed).normal(outputs, inputs).template cast<T>(), Matrix<T>::Identity(d_, d_));
}

template <typename T>
void SmIcaNetwork<T>::set_weights(const Matrix<T>& W, const Matrix<T>& M) {
  if (W.rows() != d_ || (W_.size() > 0 && W.cols() != W_.cols()) || M.rows() != d_ || M.cols() != d_) {
    throw std::invalid_argument("weights: W must be outputs x inputs, M outputs x outputs");
  }
  const Index ld = kernels::leading<T>(d_);
  W_ = Matrix<T>::Zero(ld, W.cols());
  W_.topRows(d_) = W;
  M_ = Matrix<T>::Identity(ld, kernels::padded<T>(d_));
  M_.topLeftCorner(d_, d_) = M;
  weight_bound_ = W.norm();
  status_ = W.allFinite() && M.allFinite() ? NetworkStatus::ok : NetworkStatus::weights_not_finite;
}

template <typename T>
Matrix<T> SmIcaNetwork<T>::lateral() const {
  return M_.topLeftCorner(d_, d_).template selfadjointView<Eigen::Lower>();
}

template <typename T>
Matrix<T> SmIcaNetwork<T>::unmixing() const {
  return Cholesky<T>(lateral()).solve(feedforward());
}

template <typename T>
NetworkStatus SmIcaNetwork<T>::fail(NetworkStatus status, Eigen::Ref<Vector<T>> y) {
  y.setZero();
  status_ = status;
  return status;
}

template <typename T>
NetworkStatus SmIcaNetwork<T>::step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y) {
  if (x.size() != inputs() || y.size() != outputs()) {
    throw std::invalid_argument("step: expected " + std::to_string(inputs()) + " inputs and " +
                                std::to_string(outputs()) + " outputs, got " + std::to_string(x.size()) +
                                " and " + std::to_string(y.size()));
  }
  const Index ld = W_.rows();
  if (status_ != NetworkStatus::ok) return fail(status_, y);

  kernels::project(W_.data(), ld, d_, inputs(), x.data(), c_.data());  // c <- W x
  const NetworkStatus settled = settle();                              // y <- M^-1 c
  if (settled == NetworkStatus::lateral_not_positive_definite && x.allFinite()) return fail(settled, y);

  const double change2 = modulate();  // a <- ||y||^2, u <- 2 eta (y - w(a) Lambda^-2 c)
  // W <- W + u x^T, unless that would leave the range where squares are finite. NaN or Inf in x ends up here
  // too.
  const double change = std::sqrt(change2 * static_cast<double>(x.squaredNorm()));
  const double limit = std::sqrt(static_cast<double>(std::numeric_limits<T>::max()));
  if (!(weight_bound_ + change < limit)) {
    if (!x.allFinite()) {
      y.setZero();
      ++refused_;
      return NetworkStatus::bad_input;
    }
    weight_bound_ = W_.norm();
    if (!(weight_bound_ + change < limit)) return fail(NetworkStatus::weights_not_finite, y);
  }
  weight_bound_ += change;
  kernels::feedforward_learn(W_.data(), ld, d_, inputs(), u_.data(), x.data());

  // M <- M + (eta/tau)(y y^T - I)
  kernels::lateral_learn(M_.data(), ld, d_, T(options_.eta / options_.tau), y_.data());

  y = y_.head(d_);
  ++frames_;
  return settled;
}

template <typename T>
double SmIcaNetwork<T>::modulate() {
  if (options_.weight == Weight::square) {
    const auto [activity, change2] =
        kernels::modulate(d_, T(2 * options_.eta), inverse_lambda2_.data(), y_.data(), c_.data(), u_.data());
    activity_ = modulator_ = activity;
    return static_cast<double>(change2);
  }
  activity_ = y_.head(d_).squaredNorm();
  modulator_ = static_cast<T>(weight_value(options_.weight, static_cast<double>(activity_)));
  u_ = T(2 * options_.eta) * (y_ - modulator_ * inverse_lambda2_.cwiseProduct(c_));
  return static_cast<double>(u_.squaredNorm());
}

template <typename T>
void SmIcaNetwork<T>::note(NetworkTrace& trace) const {
  const Vector<double> c = c_.head(d_).template cast<double>();
  const Vector<double> y = y_.head(d_).template cast<double>();
  const auto modulator = static_cast<double>(modulator_);
  trace.add(share_of_ltp(options_.lambda2, y, c, modulator), [&] {
    return NetworkMoment{feedforward().template cast<double>(), lateral().template cast<double>(), c, y,
                         modulator};
  });
}

template <typename T>
NetworkStatus SmIcaNetwork<T>::settle() {
  if (options_.dynamics == SmIcaNetworkOptions::Dynamics::iterate) return iterate();
  return kernels::lateral_solve(M_.data(), W_.rows(), d_, c_.data(), y_.data(), scratch_.data())
             ? NetworkStatus::ok
             : NetworkStatus::lateral_not_positive_definite;
}

// y <- y + gamma (c - M y), or without autapses y <- y + gamma ((c - (M - D) y)/D - y), D = diag(M): the same
// rest.
template <typename T>
NetworkStatus SmIcaNetwork<T>::iterate() {
  const auto leak = [&](Index i) { return options_.autapses ? T(1) : M_(i, i); };
  const auto coupling = [&](Index i, Index j) { return i < j ? M_(j, i) : M_(i, j); };
  auto gamma = T(options_.gamma);
  if (gamma == 0) {
    T largest = 0;
    for (Index i = 0; i < d_; ++i) {
      T sum = 0;
      for (Index j = 0; j < d_; ++j) sum += std::abs(coupling(i, j));
      largest = std::max(largest, sum / leak(i));
    }
    gamma = 1 / largest;
  }
  const T enough = T(options_.tolerance) * c_.norm();
  y_.setZero();
  if (!c_.allFinite()) {
    y_.head(d_).setConstant(std::numeric_limits<T>::quiet_NaN());  // step() finds out why
    return NetworkStatus::ok;
  }
  for (iterations_ = 0; iterations_ < options_.max_iterations; ++iterations_) {
    for (Index i = 0; i < d_; ++i) {
      T sum = c_(i);
      for (Index j = 0; j < d_; ++j) sum -= coupling(i, j) * y_(j);
      rest_(i) = sum;
    }
    const T distance = rest_.head(d_).norm();
    residual_ = c_.norm() > 0 ? distance / c_.norm() : T(0);
    if (distance <= enough) return NetworkStatus::ok;
    for (Index i = 0; i < d_; ++i) y_(i) += gamma * rest_(i) / leak(i);
  }
  // Slow, or without a rest to settle to? Only a factorisation can tell.
  const bool positive =
      kernels::lateral_solve(M_.data(), W_.rows(), d_, c_.data(), rest_.data(), scratch_.data());
  rest_.setZero();
  return positive && y_.allFinite() ? NetworkStatus::not_settled
                                    : NetworkStatus::lateral_not_positive_definite;
}

template <typename T>
NetworkStatus SmIcaNetwork<T>::process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y) {
  if (X.rows() != inputs() || Y.rows() != outputs() || Y.cols() != X.cols()) {
    throw std::invalid_argument("process: X must have " + std::to_string(inputs()) + " rows, Y " +
                                std::to_string(outputs()) + ", and as many columns as each other");
  }
  for (Index t = 0; t < X.cols(); ++t) {
    step(X.col(t), Y.col(t));
    if (status_ != NetworkStatus::ok) {
      Y.rightCols(X.cols() - t).setZero();
      return status_;
    }
  }
  return NetworkStatus::ok;
}

template class SmIcaNetwork<float>;
template class SmIcaNetwork<double>;

}  // namespace demix
