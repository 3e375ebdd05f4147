#include "demix/methods.hpp"

#include <algorithm>
#include <set>

#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

TEST(Methods, TheTableIsSound) {
  std::set<std::string_view> names;
  for (const Method& m : methods()) {
    EXPECT_TRUE(names.insert(m.name).second);
    EXPECT_EQ(&method_named(m.name), &m);
    EXPECT_FALSE(m.reference.empty());
  }
  EXPECT_THROW(method_named("magic"), std::invalid_argument);
}

TEST(Methods, EveryOneSeparatesWhatItCan) {
  const Mixture m = make_scenario(1, 20000, 1);
  for (const Method& method : methods()) {
    MethodOptions options;
    const Outcome out = method.run(m.mixtures, options);
    ASSERT_TRUE(out.ok) << out.failure;
    EXPECT_EQ(out.model.method, method.name);
    EXPECT_NO_THROW(out.model.validate());
    EXPECT_LT(mse(m.sources, out.model.apply(m.mixtures)), 0.05) << method.name;
    EXPECT_EQ(out.model.samples, 20000);
  }
}

TEST(Methods, ThePublishedNetworkSeparatesWithPatience) {
  const Mixture m = make_scenario(1, 20000, 1);
  MethodOptions options;
  options.published = true;
  options.eta = 1e-3;
  options.tau = 0.5;
  options.passes = 10;
  options.shuffle = true;
  const Outcome out = method_named("sm-ica").run(m.mixtures, options);
  ASSERT_TRUE(out.ok) << out.failure;
  EXPECT_LT(mse(m.sources, out.model.apply(m.mixtures)), 0.05);
}

TEST(Methods, ANetworkThatIsNotThereYetSaysSo) {
  MethodOptions options;
  options.published = true;  // 2e-5 and one pass are nothing
  const Outcome out = method_named("sm-ica").run(make_scenario(4, 5000, 4).mixtures, options);
  ASSERT_TRUE(out.ok);
  bool warned = false;
  for (const Warning& w : out.model.warnings) warned = warned || w.kind == Warning::Kind::not_converged;
  EXPECT_TRUE(warned);
}

TEST(Methods, FewerComponentsFromEveryMethod) {
  Random random(5);
  const Mixture m =
      mix(make_sources({Source::square, Source::sine, Source::laplace}, 20000, Timing::iid, random),
          Matrix<double>(Vector<double>({{10.0, 5.0, 0.01}}).asDiagonal()));
  for (const Method& method : methods()) {
    MethodOptions options;
    options.components = 2;
    const Outcome out = method.run(m.mixtures, options);
    ASSERT_TRUE(out.ok) << out.failure;
    EXPECT_EQ(out.model.components(), 2);
    EXPECT_NO_THROW(out.model.validate());
    EXPECT_LT(mse(m.sources.topRows(2), out.model.apply(m.mixtures)), 0.05) << method.name;
  }
}

// In the worst order: sorted by the first source.
TEST(Methods, StreamAndItsYardstickAgreeWithFobiInAnyOrder) {
  Random random(6);
  Matrix<double> S =
      make_sources({Source::sine, Source::sawtooth, Source::laplace}, 20000, Timing::iid, random);
  std::vector<double> first(S.row(0).begin(), S.row(0).end());
  std::sort(first.begin(), first.end());
  for (Index t = 0; t < S.cols(); ++t) S(0, t) = first[static_cast<std::size_t>(t)];
  const Matrix<double> X = random.normal(3, 3) * S;
  const Model expected = method_named("fobi").run(X, {}).model;
  for (const char* name : {"stream", "recursive-fobi"}) {
    const Model model = method_named(name).run(X, {}).model;
    EXPECT_LT((model.unmixing - expected.unmixing).norm(), 1e-8 * expected.unmixing.norm()) << name;
    EXPECT_LT((model.mean - expected.mean).norm(), 1e-10) << name;
  }
}

TEST(Methods, LiveOutputsAreThoseOfTheirTime) {
  const Mixture m = make_scenario(1, 20000, 7);
  for (const char* name : {"stream", "recursive-fobi", "sm-ica"}) {
    MethodOptions options;
    options.live = true;
    const Outcome out = method_named(name).run(m.mixtures, options);
    ASSERT_EQ(out.live.cols(), 20000) << name;
    EXPECT_EQ(out.live.col(0).norm(), 0) << name;                                      // nothing is known yet
    EXPECT_LT(mse(m.sources.rightCols(5000), out.live.rightCols(5000)), 0.1) << name;  // and now it is
  }
  MethodOptions options;
  options.live = true;
  EXPECT_THROW(method_named("fobi").run(m.mixtures, options), NoSuchOption);
}

TEST(Methods, DivergenceIsAnOutcomeWithAdvice) {
  MethodOptions options;
  options.published = true;
  options.eta = 0.05;
  options.tau = 0.75;
  const Outcome out = method_named("sm-ica").run(make_scenario(4, 20000, 2).mixtures, options);
  EXPECT_FALSE(out.ok);
  EXPECT_NE(out.failure.find("--eta"), std::string::npos);
}

TEST(Methods, WhatAMethodCannotDoItRefuses) {
  const Matrix<double> X = make_scenario(4, 500, 3).mixtures;
  MethodOptions options;
  options.passes = 2;
  EXPECT_THROW(method_named("fobi").run(X, options), std::invalid_argument);
  options = {};
  options.eta = 0.1;
  EXPECT_THROW(method_named("fobi").run(X, options), std::invalid_argument);
  options = {};
  options.weight = Weight::log;
  EXPECT_THROW(method_named("sm-ica").run(X, options), std::invalid_argument);
}

}  // namespace
}  // namespace demix
