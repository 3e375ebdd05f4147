// Locality is a fact that is checked: of every rule the table of methods calls local, each synapse is
// recomputed from what is at hand there, and changes alike where that is alike, whatever the rest does.
#include <functional>
#include <map>
#include <type_traits>

#include "demix/methods.hpp"
#include "demix/random.hpp"
#include "demix/rules/bcm.hpp"
#include "demix/rules/bio_nica.hpp"
#include "demix/rules/error_gated_hebbian.hpp"
#include "demix/rules/herault_jutten.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "support.hpp"

namespace demix {
namespace {

constexpr Index neurons = 4;

template <typename R>
R new_rule(const Form& form, std::uint64_t seed) {
  RuleOptions o;
  o.form = form.name;
  o.eta = form.eta;
  o.tau = 0.7;
  o.seed = seed;
  return R(neurons, neurons, o);
}

Vector<double> some_frame(Random& random) {
  return Vector<double>::NullaryExpr(neurons, [&] { return 0.2 + random.laplace() / 2; });
}

// A rule that has learned for a while and has just responded to x with y.
template <typename R>
struct Moment {
  Moment(const Form& form, std::uint64_t seed) : rule(new_rule<R>(form, seed)), x(neurons), y(neurons) {
    Random random(seed);
    for (int t = 0; t < 120; ++t) {
      if (t > 0) rule.learn(x, y);
      x = some_frame(random);
      rule.respond(x, y);
    }
  }
  R rule;
  Vector<double> x, y;
};

template <typename R>
double feedforward(const R& rule, const Synapse& s) {
  if constexpr (requires { rule.feedforward(s); }) return rule.feedforward(s);
  return 0;
}

template <typename R>
double lateral(const R& rule, const Synapse& s) {
  if constexpr (requires { rule.lateral(s); }) return rule.lateral(s);
  return 0;
}

// How far learn() is from the synapses' own changes, each computed here from its Synapse.
template <typename R>
double not_from_the_synapse(const Form& form) {
  const Moment<R> now(form, 1);
  const Vector<double>& x = now.x;
  const Vector<double>& y = now.y;
  R expected = now.rule;
  if constexpr (requires { expected.observe(x, y); }) expected.observe(x, y);  // each neuron for itself
  for (Index i = 0; i < expected.W.rows(); ++i) {
    for (Index j = 0; j < expected.W.cols(); ++j) {
      const Synapse s{
          x(j), y(i), expected.W(i, j), expected.input_own(j), expected.own(i), expected.broadcast, false};
      expected.W(i, j) += feedforward(now.rule, s);
    }
  }
  for (Index i = 0; i < expected.M.rows(); ++i) {
    for (Index j = 0; j < expected.M.cols(); ++j) {
      const Synapse s{y(j),  y(i), expected.M(i, j), expected.own(j), expected.own(i), expected.broadcast,
                      i == j};
      expected.M(i, j) += lateral(now.rule, s);
    }
  }
  R learned = now.rule;
  learned.learn(x, y);
  EXPECT_NE(learned.W.norm() + learned.M.norm(), now.rule.W.norm() + now.rule.M.norm())
      << "it learned nothing";
  return (learned.W - expected.W).norm() + (learned.M - expected.M).norm();
}

// The same Synapse, in two networks that have nothing in common.
template <typename R>
double not_only_the_synapse(const Form& form) {
  const Moment<R> here(form, 1);
  const Moment<R> there(form, 2);
  Random random(3);
  double difference = 0;
  for (int k = 0; k < 50; ++k) {
    const Synapse s{random.normal(), random.normal(), random.normal(), random.normal(),
                    random.normal(), random.normal(), k % 5 == 0};
    difference += std::abs(feedforward(here.rule, s) - feedforward(there.rule, s));
    difference += std::abs(lateral(here.rule, s) - lateral(there.rule, s));
  }
  return difference;
}

// Synapse (i, j) of W or of M, in one network twice; the second time, all other weights and inputs are
// others, and the outputs of the neurons at neither end of it have changed places, so that the broadcast is
// the same.
template <typename R>
double swayed_from_afar(const Form& form) {
  const Moment<R> now(form, 1);
  double difference = 0;
  for (const bool is_lateral : {false, true}) {
    if ((is_lateral ? now.rule.M : now.rule.W).size() == 0) continue;
    for (Index i = 0; i < neurons; ++i) {
      for (Index j = 0; j < neurons; ++j) {
        R usual = now.rule;
        R other = now.rule;
        Random random(7);
        Vector<double> x = some_frame(random);
        Vector<double> y = now.y;
        other.W += random.normal(other.W.rows(), other.W.cols());
        other.M += random.normal(other.M.rows(), other.M.cols());
        (is_lateral ? other.M : other.W)(i, j) = (is_lateral ? usual.M : usual.W)(i, j);
        if (!is_lateral) x(j) = now.x(j);
        std::vector<Index> elsewhere;
        for (Index k = 0; k < neurons; ++k) {
          if (k != i && (k != j || !is_lateral)) elsewhere.push_back(k);
        }
        std::swap(y(elsewhere[0]), y(elsewhere[1]));
        usual.learn(now.x, now.y);
        other.learn(x, y);
        EXPECT_NEAR(usual.broadcast, other.broadcast, 1e-12);
        difference +=
            std::abs((is_lateral ? usual.M : usual.W)(i, j) - (is_lateral ? other.M : other.W)(i, j));
      }
    }
  }
  return difference;
}

template <typename R>
double nonlocality() {
  static_assert(std::is_base_of_v<LocalRule<R>, R>);
  double worst = 0;
  for (const Form& form : R::forms) {
    worst = std::max(
        {worst, not_from_the_synapse<R>(form), not_only_the_synapse<R>(form), swayed_from_afar<R>(form)});
  }
  return worst;
}

TEST(Locality, OfEveryRuleTheTableCallsLocal) {
  const std::map<std::string_view, std::function<double()>> measure{
      {"hj", nonlocality<rules::HeraultJutten>}, {"eghr", nonlocality<rules::ErrorGatedHebbian>},
      {"bio-nica", nonlocality<rules::BioNica>}, {"psp", nonlocality<rules::PrincipalSubspace>},
      {"bcm", nonlocality<rules::Bcm>},
  };
  std::size_t measured = 0;
  for (const Method& method : methods()) {
    const bool is_rule = method.online && !method.by_kurtosis;
    if (!method.local || !is_rule) continue;
    ASSERT_TRUE(measure.contains(method.name)) << "add " << method.name << " to the list above";
    EXPECT_LT(measure.at(method.name)(), 1e-12) << method.name;
    ++measured;
  }
  EXPECT_EQ(measured, measure.size());
}

// Oja's rule in the guise of a local one: what the other neurons have explained of an input, kept by the
// input.
struct Impostor : LocalRule<Impostor> {
  static constexpr std::array<Form, 1> forms{{{"linear", 1e-3}}};
  Impostor(Index inputs, Index outputs, const RuleOptions& o) : LocalRule(inputs, outputs, o.seed) {}
  void observe(const Vector<double>&, const Vector<double>& y) { input_own = W.transpose() * y; }
  double feedforward(const Synapse& s) const { return 0.01 * s.post * (s.pre - s.pre_own); }
};

// A rule that remembers what is no synapse's business.
struct Eavesdropper : LocalRule<Eavesdropper> {
  static constexpr std::array<Form, 1> forms{{{"linear", 1e-3}}};
  Eavesdropper(Index inputs, Index outputs, const RuleOptions& o) : LocalRule(inputs, outputs, o.seed) {}
  void observe(const Vector<double>& x, const Vector<double>&) { overheard = x(0); }
  double feedforward(const Synapse& s) const { return 0.01 * s.post * (s.pre - overheard); }
  double overheard = 0;
};

TEST(Locality, OthersAreFoundOut) {
  EXPECT_GT(swayed_from_afar<Impostor>(Impostor::forms[0]), 1e-3);
  EXPECT_GT(not_only_the_synapse<Eavesdropper>(Eavesdropper::forms[0]), 1e-3);
}

}  // namespace
}  // namespace demix
