#pragma once

#include <array>
#include <limits>

#include "demix/linear_algebra.hpp"
#include "demix/rule.hpp"

/// The recurrent reconstruction network of the paper's appendix E (Olshausen, Field, Nature 381, 1996,
/// without the sparsity): least ||x - W^T y||^2 over y, then over W. Here W is outputs x inputs, the paper's
/// transposed.
///
///   dy/dt = W x - W W^T y, at rest y = (W W^T)^-1 W x,     W <- W + eta y (x - W^T y)^T
///
/// No ICA: the rows of W come to span the principal subspace. Nothing about it is local: the lateral weights
/// W W^T are products of others' feedforward weights, and each change needs the outputs of all neurons. Oja's
/// rule is the same change after a feedforward y = W x, without the recurrence.
namespace demix::rules {

class Reconstruction final : public Rule {
 public:
  static constexpr std::array<Form, 1> forms{{{"linear", 1e-3}}};
  static constexpr bool square = false;

  Reconstruction(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed), eta_(options.eta), error_(inputs), llt_(outputs) {}

  void respond(const Vector<double>& x, Vector<double>& y) override {
    llt_.compute(lateral());
    y.noalias() = W * x;
    llt_.solve_in_place(y);
    // Too high a rate, and two rows are the same: there is no y to come to rest at.
    if (!llt_.positive_definite()) y.setConstant(std::numeric_limits<double>::quiet_NaN());
  }

  void learn(const Vector<double>& x, const Vector<double>& y) override {
    error_ = x;
    error_.noalias() -= W.transpose() * y;  // x - W^T y
    W.noalias() += eta_ * y * error_.transpose();
  }

  Matrix<double> lateral() const { return W * W.transpose(); }  ///< what the outputs inhibit each other with
  Matrix<double> unmixing() const override { return inverse(lateral()) * W; }

 private:
  double eta_;
  Vector<double> error_;
  Cholesky<double> llt_;
};

}  // namespace demix::rules
