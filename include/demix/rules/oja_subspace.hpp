#pragma once

#include <array>

#include "demix/rule.hpp"

/// Oja's subspace rule (Oja, Neural Networks 5, 1992): the change of the reconstruction network of the
/// paper's appendix E (reconstruction.hpp) after a feedforward response.
///
///   y = W x,   W <- W + eta (y x^T - y y^T W)
///
/// No ICA: the rows of W come to span the principal subspace, each change needing the outputs of all others.
namespace demix::rules {

class OjaSubspace final : public Rule {
 public:
  static constexpr std::array<Form, 1> forms{{{"linear", 1e-3}}};
  static constexpr bool square = false;

  OjaSubspace(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed), eta_(options.eta), error_(inputs) {}

  void learn(const Vector<double>& x, const Vector<double>& y) override {
    error_ = x;
    error_.noalias() -= W.transpose() * y;  // x - W^T y
    W.noalias() += eta_ * y * error_.transpose();
  }

 private:
  double eta_;
  Vector<double> error_;
};

}  // namespace demix::rules
