#pragma once

#include <array>

#include "demix/rule.hpp"

/// Amari's natural gradient (Amari, Cichocki, Yang, NIPS 8, 1996), for sub-Gaussian sources.
///
///   y = W x,   W <- W + eta (I - phi(y) y^T) W
///
/// phi(y) = y^3 ("cubic"), or as published ("polynomial"), 3/4 y^11 + 25/4 y^9 - 14/3 y^7 - 47/4 y^5 + 29/4
/// y^3. The polynomial explodes where |y| is much above 1, so it starts from weights half as large.
namespace demix::rules {

class Amari final : public Rule {
 public:
  static constexpr std::array<Form, 2> forms{{{"cubic", 5e-4}, {"polynomial", 1e-4}}};

  Amari(Index inputs, Index outputs, const RuleOptions& options)
      : Rule(inputs, outputs, options.seed),
        eta_(options.eta),
        polynomial_(options.form == "polynomial"),
        phi_(outputs),
        yW_(inputs) {
    if (polynomial_) W /= 2;
  }

  void learn(const Vector<double>&, const Vector<double>& y) override {
    const auto y1 = y.array();
    const auto y2 = y1.square();
    if (polynomial_) {
      phi_ = y1 * y2 * ((((0.75 * y2 + 6.25) * y2 - 14. / 3) * y2 - 11.75) * y2 + 7.25);
    } else {
      phi_ = y1 * y2;
    }
    yW_.noalias() = W.transpose() * y;
    W *= 1 + eta_;
    W.noalias() -= eta_ * phi_ * yW_.transpose();
  }

 private:
  double eta_;
  bool polynomial_;
  Vector<double> phi_, yW_;  // phi(y), W^T y
};

}  // namespace demix::rules
