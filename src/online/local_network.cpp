#include "demix/local_network.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string>

#include "demix/lambda.hpp"
#include "demix/random.hpp"

namespace demix {
LocalNetwork::LocalNetwork(Index inputs, const LocalNetworkOptions& options)
    : options_(options),
      d_(inputs),
      warm_up_(std::max<Index>(100, 4 * inputs)),
      of_S_(inputs),
      of_M_(inputs),
      of_Ms_(inputs) {
  if (inputs < 1) throw std::invalid_argument("inputs: expected at least 1, got " + std::to_string(inputs));
  if (options_.lambda2.size() == 0) options_.lambda2 = geometric_lambda2(inputs);
  require_distinct(options_.lambda2);
  if (options_.lambda2.size() != inputs) {
    throw std::invalid_argument("lambda2: expected " + std::to_string(inputs) + " values, got " +
                                std::to_string(options_.lambda2.size()));
  }
  unit_ = static_cast<double>(d_ + 2) / gaussian_weight(options_.weight, d_);
  mean_ = x_ = q_ = c_ = y_ = v_ = Vector<double>::Zero(d_);
  S_ = W_ = M_ = Ws_ = Ms_ = Matrix<double>::Zero(d_, d_);
}

// As if all sources were Gaussian and the inputs uncorrelated: each input is scaled by its own deviation.
void LocalNetwork::start() {
  const Vector<double> m = options_.lambda2 / static_cast<double>(d_ + 2);
  M_ = m.asDiagonal();
  W_ = m.asDiagonal() * Random(options_.seed).orthogonal(d_) *
       S_.diagonal().cwiseSqrt().cwiseInverse().asDiagonal();
  Ws_ = W_;
  Ms_ = M_;
}

bool LocalNetwork::step(const Vector<double>& x, Vector<double>& y) {
  if (x.size() != d_ || y.size() != d_) {
    throw std::invalid_argument("step: expected " + std::to_string(d_) + " inputs and outputs, got " +
                                std::to_string(x.size()) + " and " + std::to_string(y.size()));
  }
  x_ = x - mean_;
  y.setZero();
  if (!(x_.squaredNorm() < 1e145)) return false;
  if (learning() && of_Ms_.compute(Ms_)) {
    y.noalias() = Ws_ * x_;
    of_Ms_.solve_in_place(y);
    if (!(y.squaredNorm() < 1e290)) y.setZero();
  }
  // mean <- mean + x/t,  S <- S + (x x^T (t - 1)/t - S)/t: the mean and covariance of all frames
  ++frames_;
  const auto t = static_cast<double>(frames_);
  mean_ += x_ / t;
  S_ *= 1 - 1 / t;
  S_.noalias() += ((t - 1) / (t * t)) * x_ * x_.transpose();
  x_ *= (t - 1) / t;
  if (frames_ >= warm_up_ && of_S_.compute(S_)) {
    if (!learning()) start();
    learn();
  }
  return true;
}

void LocalNetwork::learn() {
  ++learned_;
  // For a modulator that falls with activity see NaturalNetwork.
  const bool falls = options_.weight == Weight::reciprocal;
  const double eta = (falls ? 0.2 : 1) * std::min(0.1, 8 / std::pow(50 + static_cast<double>(learned_), 0.6));
  const double mu = (falls ? 1.5 : 0.6) * eta;

  q_ = x_;
  of_S_.solve_in_place(q_);  // q <- S^-1 x
  c_.noalias() = W_ * x_;    // c <- W x
  if (!of_M_.compute(M_)) throw std::logic_error("M has lost positive definiteness");
  y_ = c_;
  of_M_.solve_in_place(y_);  // y <- M^-1 c
  const double a = y_.squaredNorm();
  const double b = x_.dot(q_);
  if (!(a < 1e100 && b < 1e100)) return;  // so far out that its products are no numbers
  modulator_ = options_.weight == Weight::square ? a : unit_ * weight_value(options_.weight, a);

  // W <- W + eta s (Lambda^2 y - f c) / (1 + eta s f b) q^T
  const double s = eta / static_cast<double>(d_ + 2);
  v_ = (s / (1 + s * modulator_ * b)) * (options_.lambda2.cwiseProduct(y_) - modulator_ * c_);
  W_.noalias() += v_ * q_.transpose();

  // M <- M + w (v v^T - M),  v_i = sqrt(M_ii) y_i,  w = mu/(1 + mu a)
  const double w = mu / (1 + mu * a);
  v_ = M_.diagonal().cwiseSqrt().cwiseProduct(y_);
  M_ *= 1 - w;
  M_.noalias() += w * v_ * v_.transpose();

  // the average weighs frame k by k^2, and forgets the start
  const double slow = std::min(1.0, 3 / static_cast<double>(learned_));
  Ws_ += slow * (W_ - Ws_);
  Ms_ += slow * (M_ - Ms_);
}

Matrix<double> LocalNetwork::unmixing() const {
  if (!learning()) return Matrix<double>::Zero(d_, d_);
  return Cholesky<double>(Ms_).solve(Ws_);
}

void LocalNetwork::note(NetworkTrace& trace) const {
  std::optional<double> ltp;
  if (learning()) ltp = share_of_ltp(options_.lambda2, y_, c_, modulator_);
  trace.add(ltp, [&] { return NetworkMoment{W_, M_, c_, y_, modulator_}; });
}

}  // namespace demix
