#pragma once

#include <array>
#include <limits>

#include "demix/linear_algebra.hpp"
#include "demix/rule.hpp"

/// Principal subspace projection by similarity matching (Pehlevan, Hu, Chklovskii, Neural Computation 27,
/// 2015; with M in full and tau: Pehlevan, Sengupta, Chklovskii, Neural Computation 30, 2018; the paper's
/// appendix E).
///
///   y = M^-1 W x,   W_ij <- W_ij + eta (y_i x_j - W_ij),   M_ij <- M_ij + (eta/tau)(y_i y_j - M_ij)
///
/// No ICA: M^-1 W comes to project on the principal subspace, as by Oja's rule, with local learning.
namespace demix::rules {

class PrincipalSubspace final : public LocalRule<PrincipalSubspace> {
 public:
  static constexpr std::array<Form, 1> forms{{{"linear", 1e-3}}};
  static constexpr bool square = false;
  static constexpr double tau = 1;

  PrincipalSubspace(Index inputs, Index outputs, const RuleOptions& options)
      : LocalRule(inputs, outputs, options.seed), eta_(options.eta), tau_(options.tau), llt_(outputs) {
    M = Matrix<double>::Identity(outputs, outputs);
  }

  void respond(const Vector<double>& x, Vector<double>& y) override {
    llt_.compute(M);
    y.noalias() = W * x;
    llt_.solve_in_place(y);
    // Too high a rate, and M is no longer positive definite: there is no y to come to rest at.
    if (!llt_.positive_definite()) y.setConstant(std::numeric_limits<double>::quiet_NaN());
  }

  double feedforward(const Synapse& s) const { return eta_ * (s.post * s.pre - s.weight); }
  double lateral(const Synapse& s) const { return eta_ / tau_ * (s.post * s.pre - s.weight); }

  Matrix<double> unmixing() const override { return inverse(M) * W; }

 private:
  double eta_, tau_;
  Cholesky<double> llt_;
};

}  // namespace demix::rules
