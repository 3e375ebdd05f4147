// Locality is a fact that is checked: of every rule the table of methods calls local, each synapse is
// recomputed from what is at hand there, and changes alike where that is alike, whatever the rest does.
#include <functional>
#include <map>
#include <set>
#include <type_traits>

#include "demix/lambda.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/local_network.hpp"
#include "demix/methods.hpp"
#include "demix/natural_network.hpp"
#include "demix/plasticity.hpp"
#include "demix/random.hpp"
#include "demix/rules/bcm.hpp"
#include "demix/rules/bio_nica.hpp"
#include "demix/rules/error_gated_hebbian.hpp"
#include "demix/rules/herault_jutten.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/synthetic.hpp"
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

// The network as published. Its responses follow from its weights, so to have the same activities with other
// weights, those are chosen for them: M diagonal with M y = c, and a weight of each row of W such that W x =
// c.
struct NetworkMoment {
  Matrix<double> W, M;
  Vector<double> x, c, y;

  NetworkMoment(const Vector<double>& inputs, const Vector<double>& outputs, std::uint64_t seed,
                std::pair<Index, Index> kept, double weight)
      : x(inputs), y(outputs) {
    Random random(seed);
    W = random.normal(neurons, neurons);
    W(kept.first, kept.second) = weight;
    M = Matrix<double>::Identity(neurons, neurons);
    c = y;
    for (Index i = 0; i < neurons; ++i) M(i, i) = i == kept.first ? 1 : 1 + random.uniform();
    c = M * y;
    for (Index i = 0; i < neurons; ++i) {  // the weight of another input makes up for the rest
      const Index k = (kept.second + 1) % neurons;
      W(i, k) += (c(i) - W.row(i).dot(x)) / x(k);
    }
  }

  SmIcaNetwork<double> learned(const SmIcaNetworkOptions& o) const {
    SmIcaNetwork<double> network(neurons, neurons, o);
    network.set_weights(W, M);
    Vector<double> out(neurons);
    network.step(x, out);
    EXPECT_TRUE(out.isApprox(y, 1e-9));
    return network;
  }
};

double published_nonlocality() {
  SmIcaNetworkOptions o;
  o.eta = 1e-3;
  o.tau = 0.7;
  Random random(5);
  const Vector<double> x = some_frame(random);
  const Vector<double> y = some_frame(random);
  double worst = 0;
  for (Index i = 0; i < neurons; ++i) {
    for (Index j = 0; j < neurons; ++j) {
      const NetworkMoment here(x, y, 1, {i, j}, 0.3);
      Vector<double> other_x = some_frame(random);
      other_x(j) = x(j);
      Vector<double> other_y = y;
      std::vector<Index> elsewhere;
      for (Index k = 0; k < neurons; ++k) {
        if (k != i && k != j) elsewhere.push_back(k);
      }
      std::swap(other_y(elsewhere[0]), other_y(elsewhere[1]));
      const NetworkMoment there(other_x, other_y, 2, {i, j}, 0.3);
      const SmIcaNetwork<double> a = here.learned(o);
      const SmIcaNetwork<double> b = there.learned(o);
      EXPECT_NE(a.feedforward()(i, j), here.W(i, j)) << "it learned nothing";
      EXPECT_GT((here.W - there.W).norm(), 1);
      worst = std::max(worst, std::abs(a.feedforward()(i, j) - b.feedforward()(i, j)));
      if (i != j) worst = std::max(worst, std::abs(a.lateral()(i, j) - b.lateral()(i, j)));
    }
  }
  return worst;
}

// With natural steps: every synapse recomputed from its two neurons and the two numbers it hears.
double natural_synapses_nonlocality() {
  const Mixture m = make_scenario(4, 3000, 8);
  NaturalNetwork<double> network(3);
  const Vector<double> lambda2 = geometric_lambda2(3);
  Vector<double> out(3);
  double worst = 0;
  int seen = 0;
  std::int64_t learned = 0;
  for (Index t = 0; t < m.mixtures.cols(); ++t) {
    const Matrix<double> W = network.feedforward();
    const Matrix<double> M = network.lateral();
    const Matrix<double> P = network.whitener();
    network.step(m.mixtures.col(t), out);
    if (network.rank() == 0) continue;
    ++learned;
    if (P.rows() == 0 || P != network.whitener() || learned >= 256) continue;
    const double eta = std::min(0.1, 8 / std::pow(50 + static_cast<double>(learned), 0.6));
    const Vector<double> h = P * (m.mixtures.col(t) - network.mean());
    const Vector<double> c = W * h;
    const Vector<double> y = inverse(M) * c;
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        const double dW = natural_feedforward_plasticity(h(j), y(i), c(i), y.squaredNorm(), h.squaredNorm(),
                                                         lambda2(i), eta, 1. / 5);
        const double dM =
            natural_lateral_plasticity(y(i), y(j), M(i, j), M(i, i), M(j, j), y.squaredNorm(), 0.6 * eta);
        worst = std::max({worst, std::abs(network.feedforward()(i, j) - W(i, j) - dW),
                          std::abs(network.lateral()(i, j) - M(i, j) - dM)});
      }
    }
    ++seen;
  }
  EXPECT_GT(seen, 100);
  return worst;
}

// The local form: every synapse there is, and the output, recomputed from what is at hand. S: two input
// neurons. W: an input neuron's two activities, an output neuron's two, two numbers for all. M: two output
// neurons and one number. A slow synapse: the fast one beside it.
double local_nonlocality() {
  const Mixture m = make_scenario(4, 2000, 8);
  LocalNetwork network(3);
  const Vector<double> lambda2 = geometric_lambda2(3);
  Vector<double> out(3);
  double worst = 0;
  double learned = 0;
  for (Index t = 0; t < m.mixtures.cols(); ++t) {
    const LocalNetwork before = network;
    network.step(m.mixtures.col(t), out);
    const auto n = static_cast<double>(network.frames());
    const Vector<double> from_old = m.mixtures.col(t) - before.mean();
    for (Index j = 0; j < 3; ++j) {
      for (Index k = 0; k < 3; ++k) {
        const double S = covariance_plasticity(from_old(j), from_old(k), before.input_lateral()(j, k), n);
        worst = std::max(worst, std::abs(network.input_lateral()(j, k) - before.input_lateral()(j, k) - S));
      }
    }
    if (!before.learning()) continue;
    learned = learned == 0 ? 2 : learned + 1;  // the first frame of learning has gone by
    const Vector<double> x = m.mixtures.col(t) - network.mean();
    const Vector<double> q = inverse(network.input_lateral()) * x;
    const Vector<double> c = before.feedforward() * x;
    const Vector<double> y = inverse(before.lateral()) * c;
    const double eta = std::min(0.1, 8 / std::pow(50 + learned, 0.6));
    const Vector<double> shown = inverse(before.slow_lateral()) * before.slow_feedforward() * from_old;
    worst = std::max(worst, (out - shown).norm());
    for (Index i = 0; i < 3; ++i) {
      for (Index j = 0; j < 3; ++j) {
        const auto changed = [&](const Matrix<double>& now, const Matrix<double>& then, double by) {
          worst = std::max(worst, std::abs(now(i, j) - then(i, j) - by));
        };
        const Matrix<double>& M = before.lateral();
        changed(network.feedforward(), before.feedforward(),
                natural_feedforward_plasticity(q(j), y(i), c(i), y.squaredNorm(), x.dot(q), lambda2(i), eta,
                                               1. / 5));
        changed(
            network.lateral(), M,
            natural_lateral_plasticity(y(i), y(j), M(i, j), M(i, i), M(j, j), y.squaredNorm(), 0.6 * eta));
        changed(network.slow_feedforward(), before.slow_feedforward(),
                consolidation(network.feedforward()(i, j), before.slow_feedforward()(i, j), learned));
        changed(network.slow_lateral(), before.slow_lateral(),
                consolidation(network.lateral()(i, j), before.slow_lateral()(i, j), learned));
      }
    }
  }
  EXPECT_GT(learned, 1000);
  return worst;
}

TEST(Locality, OfEveryFormTheTableCallsLocal) {
  const std::map<std::string, std::function<double()>> measure{
      {"hj", nonlocality<rules::HeraultJutten>}, {"eghr", nonlocality<rules::ErrorGatedHebbian>},
      {"bio-nica", nonlocality<rules::BioNica>}, {"psp", nonlocality<rules::PrincipalSubspace>},
      {"bcm", nonlocality<rules::Bcm>},          {"sm-ica:published", published_nonlocality},
      {"sm-ica:local", local_nonlocality},       {"sm-ica:natural", natural_synapses_nonlocality},
  };
  std::set<std::string> measured;
  for (const Method& method : methods()) {
    for (const Form& form : method.forms) {
      if (method.locality_of(form) == Locality::none) continue;
      const std::string by_form = std::string(method.name) + ":" + std::string(form.name);
      const std::string name = measure.contains(by_form) ? by_form : std::string(method.name);
      ASSERT_TRUE(measure.contains(name)) << "add " << by_form << " to the list above";
      if (measured.insert(name).second) {
        EXPECT_LT(measure.at(name)(), 1e-8) << name;
      }
    }
  }
  EXPECT_EQ(measured.size(), measure.size());
}

// The natural form is more than its synapses: what is put out is not M^-1 W of the moment, and the whitening
// is one of eigenvectors. So it must not be called local.
TEST(Locality, TheNaturalFormIsNotLocalAsAWhole) {
  const Method& method = method_named("sm-ica");
  EXPECT_EQ(method.locality_of(method.form_named("published")), Locality::full);
  EXPECT_EQ(method.locality_of(method.form_named("natural")), Locality::synapses);
  const Mixture m = make_scenario(4, 5000, 8);
  NaturalNetwork<double> network(3);
  Matrix<double> Y(3, 5000);
  network.process(Frames<double>(m.mixtures), Y);
  const Matrix<double> now = inverse(network.lateral()) * network.feedforward() * network.whitener();
  EXPECT_GT((now - network.unmixing()).norm() / now.norm(), 1e-3);
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
