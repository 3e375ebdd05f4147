#pragma once

#include <array>
#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/rule.hpp"
#include "demix/source_signs.hpp"

/// Infomax (Bell and Sejnowski, Neural Computation 7, 1995), and extended (Lee, Girolami, Sejnowski, Neural
/// Computation 11, 1999).
///
///   y = W x,   W <- W + eta (W^-T - phi(y) x^T)
///
/// phi(y) = 2 / (1 + e^-y) - 1 ("logistic") or 2 tanh y ("tanh") for super-Gaussian, y^3 ("cubic") for sub-
/// Gaussian sources; "extended", for both:
///
///   W <- W + eta (I - K tanh(y) y^T - y y^T) W,   K the signs of SourceSigns
///
/// over the last 1000 frames or so.
namespace demix::rules {

class Infomax final : public Rule {
 public:
  static constexpr std::array<Form, 4> forms{
      {{"extended", 2e-3}, {"logistic", 2e-3}, {"tanh", 5e-4}, {"cubic", 5e-4}}};

  Infomax(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed),
        form_(options.form == "extended"   ? Phi::extended
              : options.form == "logistic" ? Phi::logistic
              : options.form == "tanh"     ? Phi::tanh
                                           : Phi::cubic),
        eta_(options.eta),
        phi_(outputs),
        yW_(inputs),
        signs_(outputs) {}

  void learn(const Vector<double>& x, const Vector<double>& y) override {
    if (form_ == Phi::extended) return learn_extended(y);
    if (form_ == Phi::cubic) {
      phi_ = y.array().cube();
    } else if (form_ == Phi::tanh) {
      phi_ = 2 * y.array().tanh();
    } else {
      phi_ = (y.array() / 2).tanh();  // 2 / (1 + e^-y) - 1
    }
    inverse(W, inverse_);
    W += eta_ * inverse_.transpose();
    W.noalias() -= eta_ * phi_ * x.transpose();
  }

 private:
  void learn_extended(const Vector<double>& y) {
    constexpr double rate = 1e-3;
    phi_ = y.array().tanh();
    signs_.update(y, phi_, rate);
    phi_ = y.array() + signs_.k.array() * phi_.array();  // K tanh(y) + y
    yW_.noalias() = W.transpose() * y;
    W *= 1 + eta_;
    W.noalias() -= eta_ * phi_ * yW_.transpose();
  }

  enum class Phi { extended, logistic, tanh, cubic } form_;
  double eta_;
  Matrix<double> inverse_;
  Vector<double> phi_, yW_;  // phi(y), W^T y
  SourceSigns signs_;
};

}  // namespace demix::rules
