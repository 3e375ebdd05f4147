#pragma once

#include <algorithm>
#include <array>
#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/rule.hpp"

/// Bio-NICA: nonnegative ICA by similarity matching (Lipshutz, Pehlevan, Chklovskii, Biological
/// Cybernetics 116, 2022). Sources are nonnegative and often near 0; inputs come with their mean.
///
///   c = W x,   y = argmin_{y >= 0} y^T M y / 2 - c^T y
///   W_ij <- W_ij + 2 eta (y_i x_j - (c_i - E[c_i])(x_j - E[x_j]))
///   M_ij <- M_ij + (eta/tau)(y_i y_j - M_ij)
///
/// with running means E[.]. A neuron that has been silent for 50 frames is turned round: w_i <- -w_i (as in
/// Pehlevan, Mohan, Chklovskii, Neural Computation 29, 2017).
namespace demix::rules {

class BioNica final : public LocalRule<BioNica> {
 public:
  static constexpr std::array<Form, 1> forms{{{"direct", 1e-3}}};
  static constexpr double tau = 0.5;

  BioNica(Index inputs, Index outputs, const RuleOptions& options)
      : LocalRule(inputs, outputs, options.seed),
        eta_(options.eta),
        tau_(options.tau),
        c_(own),
        x_mean_(input_own),
        c_mean_(own),
        silent_(own) {
    M = Matrix<double>::Identity(outputs, outputs);
  }

  /// The neural dynamics: one neuron after the other goes to where the others leave it at rest, until all
  /// are.
  void respond(const Vector<double>& x, Vector<double>& y) override {
    c_.noalias() = W * x;
    y.setZero();
    for (int sweep = 0; sweep < 1000; ++sweep) {
      double moved = 0;
      for (Index i = 0; i < y.size(); ++i) {
        double rest = y(i) + (c_(i) - M.row(i).dot(y)) / M(i, i);
        if (rest < 0) rest = 0;  // a NaN stays, to be noticed
        moved = std::max(moved, std::abs(rest - y(i)));
        y(i) = rest;
      }
      if (moved <= 1e-9 * y.maxCoeff()) return;
    }
  }

  void observe(const Vector<double>& x, const Vector<double>& y) {
    const double rate = std::max(1.0 / static_cast<double>(++frames_), 1e-3);
    x_mean_ += rate * (x - x_mean_);
    c_mean_ += rate * (c_ - c_mean_);
    for (Index i = 0; i < y.size(); ++i) {
      silent_(i) = y(i) > 0 ? 0 : silent_(i) + 1;
      if (silent_(i) < 50) continue;
      silent_(i) = 0;
      W.row(i) *= -1;
      c_(i) *= -1;
      c_mean_(i) *= -1;
    }
    input_own = x - x_mean_;
    own = c_ - c_mean_;
  }

  double feedforward(const Synapse& s) const { return 2 * eta_ * (s.post * s.pre - s.post_own * s.pre_own); }
  double lateral(const Synapse& s) const { return eta_ / tau_ * (s.post * s.pre - s.weight); }

  Matrix<double> unmixing() const override { return inverse(M) * W; }  // where no output is held at 0

 private:
  double eta_, tau_;
  Vector<double> c_, x_mean_, c_mean_, silent_;
  std::int64_t frames_ = 0;
};

}  // namespace demix::rules
