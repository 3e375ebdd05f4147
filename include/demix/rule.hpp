#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "demix/random.hpp"
#include "demix/types.hpp"

/// A learning rule: weights, the response to a frame, the change of the weights after it. One short file each
/// in demix/rules/; docs/add-a-rule.md shows how to add one.
namespace demix {

/// Whether all that learns does so from what is at hand, and a number or two for the whole network.
enum class Locality {
  none,      ///< synapses learn from what is elsewhere
  synapses,  ///< the synapses are local; stages around them, as a whitening in front, are not
  full,
};

/// A rule's nonlinearity or variant, and the learning rate it is used with unless another is asked for.
struct Form {
  std::string_view name;
  double eta;                             ///< 0: nothing to choose
  std::optional<Locality> locality = {};  ///< where it is not that of the method
};

struct RuleOptions {
  std::string_view form;  ///< the name of one of the rule's forms
  double eta = 1e-3;      ///< learning rate
  double tau = 1;         ///< ratio of the rates of feedforward and lateral weights, where there are both
  std::optional<Index> sub_gaussian;  ///< how many sources are sub-Gaussian, where a rule can use that
  std::uint64_t seed = 0;             ///< of the initial weights
};

/// A rule for the table of methods has besides, static and constexpr: `forms`, an array of Form, the default
/// first, and these, if not as they are here.
class Rule {
 public:
  static constexpr bool square = true;  ///< has as many outputs as inputs
  static constexpr double tau = 0;      ///< the tau it is used with; 0: it has none

  virtual ~Rule() = default;

  virtual void respond(const Vector<double>& x, Vector<double>& y) { y.noalias() = W * x; }
  virtual void learn(const Vector<double>& x, const Vector<double>& y) = 0;  ///< after respond(x, y)
  virtual Matrix<double> unmixing() const { return W; }  ///< y = unmixing x, once it has come to rest

  Matrix<double> W;  ///< feedforward weights, outputs x inputs

 protected:
  Rule(Index inputs, Index outputs, std::uint64_t seed)
      : W(Random(seed).orthogonal(inputs).topRows(outputs)) {}
  Rule(const Rule&) = default;
  Rule& operator=(const Rule&) = default;
};

/// Everything a synapse can know.
struct Synapse {
  double pre, post;          ///< activity of the neuron it comes from, and of the one it ends on
  double weight;             ///< its own
  double pre_own, post_own;  ///< what those two keep to themselves: a threshold, a dendritic current
  double broadcast;          ///< one number for the whole network: total activity, an error
  bool autapse;              ///< it comes from the neuron it ends on
};

/// A rule whose synapses learn one by one, each handed its Synapse. `Derived` has feedforward(Synapse) and
/// lateral(Synapse), the changes of W and M; tests/rules/locality_test.cpp checks that nothing else gets in.
template <typename Derived>
class LocalRule : public Rule {
 public:
  void learn(const Vector<double>& x, const Vector<double>& y) final {
    auto& rule = static_cast<Derived&>(*this);
    rule.observe(x, y);
    for (Index j = 0; j < W.cols(); ++j) {
      for (Index i = 0; i < W.rows(); ++i) {
        W(i, j) += rule.feedforward({x(j), y(i), W(i, j), input_own(j), own(i), broadcast, false});
      }
    }
    for (Index j = 0; j < M.cols(); ++j) {
      for (Index i = 0; i < M.rows(); ++i) {
        M(i, j) += rule.lateral({y(j), y(i), M(i, j), own(j), own(i), broadcast, i == j});
      }
    }
  }

  Matrix<double> M;               // lateral weights; empty where there are none
  Vector<double> input_own, own;  // what each input and each output keeps to itself
  double broadcast = 0;

 protected:
  LocalRule(Index inputs, Index outputs, std::uint64_t seed)
      : Rule(inputs, outputs, seed),
        input_own(Vector<double>::Zero(inputs)),
        own(Vector<double>::Zero(outputs)) {}

  // For those without: each neuron's own variables and the broadcast, W's changes, M's.
  void observe(const Vector<double>&, const Vector<double>&) {}
  double feedforward(const Synapse&) const { return 0; }
  double lateral(const Synapse&) const { return 0; }
};

}  // namespace demix
