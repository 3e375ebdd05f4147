#pragma once

#include <array>
#include <cmath>

#include "demix/rule.hpp"

/// The error-gated Hebbian rule (Isomura and Toyoizumi, Scientific Reports 6, 2016): no lateral weights, one
/// number for all synapses.
///
///   y = W x,   W_ij <- W_ij + eta (E_0 - E(y)) g(y_i) x_j,     E(y) = sum_i E_1(y_i),   g = E_1'
///
/// Sources all of one known density: "laplace", E_1(y) = sqrt2 |y|, g(y) = sqrt2 tanh(100 y); or "uniform",
/// soft walls, E_1(y) = (y / sqrt3)^4. At y = s the mean change vanishes for E_0 = E[E(s)] + var(E_1)/E[E_1],
/// which is d + 1 for Laplace and d/5 + 16/45 for uniform sources.
namespace demix::rules {

class ErrorGatedHebbian final : public LocalRule<ErrorGatedHebbian> {
 public:
  static constexpr std::array<Form, 2> forms{{{"laplace", 1e-3}, {"uniform", 1e-3}}};

  ErrorGatedHebbian(Index inputs, Index outputs, const RuleOptions& options)
      : LocalRule(inputs, outputs, options.seed), eta_(options.eta), laplace_(options.form == "laplace") {}

  void observe(const Vector<double>&, const Vector<double>& y) {
    const auto d = static_cast<double>(y.size());
    if (laplace_) {
      own = std::sqrt(2.) * (100 * y.array()).tanh();  // g(y_i)
      broadcast = d + 1 - own.dot(y);                  // E_0 - E(y)
    } else {
      own = 4. / 9 * y.array().cube();
      broadcast = d / 5 + 16. / 45 - own.dot(y) / 4;
    }
  }

  double feedforward(const Synapse& s) const { return eta_ * s.broadcast * s.post_own * s.pre; }

 private:
  double eta_;
  bool laplace_;
};

}  // namespace demix::rules
