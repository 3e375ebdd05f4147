#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <stdexcept>
#include <string>

#include "demix/rule.hpp"
#include "demix/source_signs.hpp"

/// ORICA, online recursive ICA (Hsu, Mullen, Jung, Cauwenberghs, IEEE Trans. NSRE 24, 2016), one frame at a
/// time; at frame n, lambda = .995 / n^.6, but at most 1/2.
///
///   v = P x,   P <- (P - v v^T P / ((1 - lambda)/lambda + v^T v)) / (1 - lambda)                whitening
///   y = W v,   f_i = -2 k_i tanh y_i,   u = lambda f / (1 + lambda (f^T y - 1))
///   W <- (W - y u^T W) / (1 - lambda),   W <- (W W^T)^-1/2 W                                    separation
///
/// W is orthogonal, so the last line turns it in the plane of y and u and leaves everything else: there,
/// I - y u^T is a 2 x 2 matrix, and the rotation nearest to (a b; c d) is by atan2(c - b, a + d). The step is
/// O(d^2), with no eigenvalue problem. (Where u^T y > 1, as it can be in the first frames, the last line
/// would mirror W; this turns it.)
///
/// k_i = 1 for super- and -1 for sub-Gaussian outputs. With `sub_gaussian` given, that many, the last ones,
/// are; else SourceSigns tells, forgetting with lambda.
namespace demix::rules {

class Orica final : public Rule {
 public:
  static constexpr std::array<Form, 1> forms{{{"tanh", 0.995}}};  // eta: the .995

  Orica(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed),
        eta_(options.eta),
        known_(options.sub_gaussian.has_value()),
        P_(Matrix<double>::Identity(inputs, inputs)),
        v_(inputs),
        vP_(inputs),
        signs_(outputs) {
    if (!known_) return;
    if (*options.sub_gaussian < 0 || *options.sub_gaussian > outputs) {
      throw std::invalid_argument("sub-Gaussian sources: expected 0 to " + std::to_string(outputs) +
                                  ", got " + std::to_string(*options.sub_gaussian));
    }
    signs_.k.tail(*options.sub_gaussian).setConstant(-1);
  }

  void respond(const Vector<double>& x, Vector<double>& y) override {
    v_.noalias() = P_ * x;
    y.noalias() = W * v_;
  }

  void learn(const Vector<double>&, const Vector<double>& y) override {
    const double lambda = std::min(0.5, eta_ / std::pow(static_cast<double>(++frames_), 0.6));
    separate(y, lambda);
    whiten(lambda);
  }

  Matrix<double> unmixing() const override { return W * P_; }

 private:
  void whiten(double lambda) {
    vP_.noalias() = P_.transpose() * v_;
    vP_ /= (1 - lambda) / lambda + v_.squaredNorm();
    P_ = (P_ - v_.lazyProduct(vP_.transpose())) * (1 / (1 - lambda));
  }

  void separate(const Vector<double>& y, double lambda) {
    u_ = 1 - 2 / ((2 * y.array()).exp() + 1);  // tanh y; Eigen's exp is the faster
    if (!known_) signs_.update(y, u_, lambda);
    u_.array() *= -2 * signs_.k.array();            // f
    u_ *= lambda / (1 + lambda * (u_.dot(y) - 1));  // u

    // The plane's axes: p along y, q along the rest of u. In them I - y u^T is (1 - a, -b; 0, 1).
    const double length = y.norm();
    if (length == 0) return;
    const double a = u_.dot(y);
    p_ = y / length;
    q_ = u_ - a / length * p_;
    const double rest = q_.norm();
    if (!(rest > 1e-12 * u_.norm())) return;
    q_ /= rest;
    const double b = length * rest;
    const double r = std::hypot(b, 2 - a);
    const double cosine = (2 - a) / r;
    const double sine = b / r;
    pW_.noalias() = W.transpose() * p_;
    qW_.noalias() = W.transpose() * q_;
    W.noalias() += p_ * ((cosine - 1) * pW_ - sine * qW_).transpose();
    W.noalias() += q_ * (sine * pW_ + (cosine - 1) * qW_).transpose();
  }

  double eta_;
  bool known_;
  Matrix<double> P_;
  Vector<double> v_, vP_, u_, p_, q_, pW_, qW_;
  SourceSigns signs_;
  std::int64_t frames_ = 0;
};

}  // namespace demix::rules
