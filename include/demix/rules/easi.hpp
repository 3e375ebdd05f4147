#pragma once

#include <array>
#include <cmath>

#include "demix/rule.hpp"

/// EASI, equivariant adaptive separation via independence (Cardoso and Laheld, IEEE Trans. SP 44, 1996).
///
///   y = W x
///   W <- W - eta [ (y y^T - I) / (1 + eta y^T y)  +  (g y^T - y g^T) / (1 + eta |g^T y|) ] W
///
/// with both denominators 1 unless the form is a normalised one. g(y) = y^3 suits sub-Gaussian sources
/// ("cubic", "normalised"), tanh y super-Gaussian ones ("tanh", "normalised-tanh").
namespace demix::rules {

class Easi final : public Rule {
 public:
  static constexpr std::array<Form, 4> forms{
      {{"cubic", 1e-4}, {"normalised", 1e-4}, {"tanh", 1e-3}, {"normalised-tanh", 1e-3}}};

  Easi(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed),
        eta_(options.eta),
        tanh_(options.form.ends_with("tanh")),
        normalised_(options.form.starts_with("normalised")),
        g_(outputs),
        yW_(inputs),
        gW_(inputs) {}

  void learn(const Vector<double>&, const Vector<double>& y) override {
    if (tanh_) {
      g_ = y.array().tanh();
    } else {
      g_ = y.array().cube();
    }
    const double white = eta_ / (normalised_ ? 1 + eta_ * y.squaredNorm() : 1);
    const double turn = eta_ / (normalised_ ? 1 + eta_ * std::abs(g_.dot(y)) : 1);
    yW_.noalias() = W.transpose() * y;
    gW_.noalias() = W.transpose() * g_;
    W *= 1 + white;
    W.noalias() -= (white * y + turn * g_) * yW_.transpose();
    W.noalias() += turn * y * gW_.transpose();
  }

 private:
  double eta_;
  bool tanh_, normalised_;
  Vector<double> g_, yW_, gW_;  // g(y), W^T y, W^T g
};

}  // namespace demix::rules
