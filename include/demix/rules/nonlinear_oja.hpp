#pragma once

#include <array>

#include "demix/rule.hpp"

/// Nonlinear Oja, or nonlinear PCA (Oja, Neurocomputing 17, 1997). Its input has to be white.
///
///   y = W x,   W <- W + eta (g x^T - g g^T W),   g = tanh y
///
/// tanh suits sub-Gaussian sources.
namespace demix::rules {

class NonlinearOja final : public Rule {
 public:
  static constexpr std::array<Form, 1> forms{{{"tanh", 1e-3}}};
  static constexpr bool square = false;

  NonlinearOja(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed), eta_(options.eta), g_(outputs), error_(inputs) {}

  void learn(const Vector<double>& x, const Vector<double>& y) override {
    g_ = y.array().tanh();
    error_ = x;
    error_.noalias() -= W.transpose() * g_;  // x - W^T g
    W.noalias() += eta_ * g_ * error_.transpose();
  }

 private:
  double eta_;
  Vector<double> g_, error_;
};

}  // namespace demix::rules
