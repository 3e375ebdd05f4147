#pragma once

#include <array>

#include "demix/rule.hpp"

/// Bienenstock, Cooper and Munro (J. Neuroscience 2, 1982), with the threshold of Intrator and Cooper (Neural
/// Networks 5, 1992). Its input has to be white.
///
///   y = W x,   theta_i <- theta_i + 10 eta (y_i^2 - theta_i),   W_ij <- W_ij + eta y_i (y_i - theta_i) x_j
///
/// No ICA: each neuron finds a skewed feature, and nothing keeps two neurons from finding the same one. One
/// that begins with a negative weight for every feature finds none: its weights shrink towards 0.
namespace demix::rules {

class Bcm final : public LocalRule<Bcm> {
 public:
  static constexpr std::array<Form, 1> forms{{{"quadratic", 1e-3}}};
  static constexpr bool square = false;

  Bcm(Index inputs, Index outputs, const RuleOptions& options)
      : LocalRule(inputs, outputs, options.seed), eta_(options.eta) {
    own.setOnes();  // theta
  }

  void observe(const Vector<double>&, const Vector<double>& y) {
    own.array() += 10 * eta_ * (y.array().square() - own.array());
  }

  double feedforward(const Synapse& s) const { return eta_ * s.post * (s.post - s.post_own) * s.pre; }

 private:
  double eta_;
};

}  // namespace demix::rules
