#pragma once

#include <array>
#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/rule.hpp"

/// Herault and Jutten: a recurrent network with lateral weights only (Jutten, Herault, Signal Processing 24,
/// 1991).
///
///   y = x - M y = (I + M)^-1 x
///   M_ij <- M_ij + eta f(y_i) g(y_j),  i != j,   f(y) = y^3,  g(y) = atan y (form "atan") or y ("linear")
namespace demix::rules {

class HeraultJutten final : public LocalRule<HeraultJutten> {
 public:
  static constexpr std::array<Form, 2> forms{{{"atan", 1e-4}, {"linear", 1e-4}}};

  HeraultJutten(Index inputs, Index outputs, const RuleOptions& options)
      : LocalRule(inputs, outputs, options.seed), eta_(options.eta), linear_(options.form == "linear") {
    W.resize(0, 0);
    M = loop_ = Matrix<double>::Zero(outputs, outputs);
  }

  void respond(const Vector<double>& x, Vector<double>& y) override {
    loop_ = M;
    loop_.diagonal().array() += 1;
    solve(loop_, x, y);
  }

  double lateral(const Synapse& s) const {
    return s.autapse ? 0 : eta_ * s.post * s.post * s.post * (linear_ ? s.pre : std::atan(s.pre));
  }

  Matrix<double> unmixing() const override {
    return inverse(Matrix<double>::Identity(M.rows(), M.cols()) + M);
  }

 private:
  double eta_;
  bool linear_;
  Matrix<double> loop_;  // I + M
};

}  // namespace demix::rules
