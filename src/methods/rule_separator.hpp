#pragma once

#include <algorithm>
#include <memory>

#include "demix/methods.hpp"

/// A learning rule as an online method: what all rules need around them.
namespace demix {

template <typename R>
class RuleSeparator final : public OnlineSeparator {
 public:
  RuleSeparator(Index inputs, Index outputs, const RuleOptions& options) : rule_(inputs, outputs, options) {}

  bool step(const Vector<double>& x, Vector<double>& y) override {
    if (!diverged_) {
      // Looked at before it can learn, a response that has exploded leaves the weights finite.
      rule_.respond(x, y);
      largest_ = std::max(largest_, x.squaredNorm());
      if (y.squaredNorm() <= 1e16 * largest_) {  // false for NaN
        rule_.learn(x, y);
        return true;
      }
      diverged_ = true;
    }
    y.setZero();
    return false;
  }

  Matrix<double> unmixing() const override { return rule_.unmixing(); }
  std::string failure() const override { return diverged_ ? "its outputs grow without bound" : ""; }

 private:
  R rule_;
  double largest_ = 1;  // ||x||^2 so far
  bool diverged_ = false;
};

template <typename R>
std::unique_ptr<OnlineSeparator> make_rule(Index inputs, Index outputs, const MethodOptions& o) {
  RuleOptions options;
  options.form = o.form;
  options.eta = *o.eta;
  options.tau = o.tau.value_or(options.tau);
  options.sub_gaussian = o.sub_gaussian;
  options.seed = o.seed;
  return std::make_unique<RuleSeparator<R>>(inputs, outputs, options);
}

}  // namespace demix
