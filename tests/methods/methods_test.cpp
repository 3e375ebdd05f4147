#include "demix/methods.hpp"

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
