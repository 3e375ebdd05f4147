#include "demix/methods.hpp"

#include <algorithm>
#include <functional>
#include <set>

#include "demix/metrics.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

bool by_kurtosis(const Method& m) { return m.by_kurtosis; }
bool is_rule(const Method& m) { return m.online && !by_kurtosis(m) && !m.contrast; }

bool contains(const std::string& text, std::string_view part) { return text.find(part) != std::string::npos; }

// What it says when it refuses; nothing if it does not.
template <typename Refusal>
std::string refusal(const std::function<void()>& f) {
  try {
    f();
  } catch (const Refusal& e) {
    return e.what();
  }
  return "";
}

bool warns(const Model& model, Warning::Kind kind) {
  return std::any_of(model.warnings.begin(), model.warnings.end(),
                     [&](const Warning& w) { return w.kind == kind; });
}

// Rules leave outputs of any scale.
double scaled_mse(const Mixture& m, const Model& model) {
  return mse(m.sources, standardized(model.apply(m.mixtures)));
}

MethodOptions patient(bool whiten) {
  MethodOptions options;
  options.whiten = whiten;
  options.passes = 5;
  options.shuffle = true;
  return options;
}

TEST(Methods, TheTableIsSound) {
  std::set<std::string_view> names;
  for (const Method& m : methods()) {
    EXPECT_FALSE(m.name.empty());
    EXPECT_TRUE(names.insert(m.name).second) << m.name;
    EXPECT_EQ(&method_named(m.name), &m);
    EXPECT_FALSE(m.reference.empty()) << m.name;
    EXPECT_FALSE(m.sources.empty()) << m.name;
    EXPECT_FALSE(m.cannot.empty()) << m.name;
    EXPECT_EQ(m.make != nullptr, m.online) << m.name;
    EXPECT_EQ(m.batch != nullptr, !m.online) << m.name;
    ASSERT_FALSE(m.forms.empty()) << m.name;
    std::set<std::string_view> forms;
    for (const Form& f : m.forms) {
      EXPECT_TRUE(forms.insert(f.name).second) << m.name << " " << f.name;
      EXPECT_TRUE(f.eta > 0 || !is_rule(m)) << m.name << " " << f.name;
    }
  }
  EXPECT_TRUE(contains(refusal<std::invalid_argument>([] { method_named("magic"); }), "orica"));
}

TEST(Methods, EveryOneByKurtosisSeparatesWhatItCan) {
  const Mixture m = make_scenario(1, 20000, 1);
  for (const Method& method : methods()) {
    if (!by_kurtosis(method)) continue;
    MethodOptions options;
    const Outcome out = method.run(m.mixtures, options);
    EXPECT_EQ(out.model.method, method.name);
    EXPECT_NO_THROW(out.model.validate());
    EXPECT_LT(mse(m.sources, out.model.apply(m.mixtures)), 0.05) << method.name;
    EXPECT_EQ(out.model.samples, 20000);
  }
}

TEST(Methods, JadeSeparatesSourcesOfEqualKurtosisInBothForms) {
  Random random(1);
  const Mixture m = mix(make_sources({Source::laplace, Source::laplace, Source::uniform, Source::uniform},
                                     50000, Timing::iid, random),
                        random.normal(4, 4));
  for (const char* form : {"", "jade", "k-jade"}) {
    MethodOptions options;
    options.form = form;
    const Model model = method_named("jade").run(m.mixtures, options).model;
    EXPECT_LT(mse(m.sources, model.apply(m.mixtures)), 1e-3) << form;
    EXPECT_EQ(model.options.at("form"), form[0] != '\0' ? form : "jade");
    EXPECT_EQ(model.options.contains("neighbours"), model.options.at("form") == "k-jade");
    options.components = 2;
    EXPECT_EQ(method_named("jade").run(m.mixtures, options).model.components(), 2) << form;
  }
}

TEST(Methods, ThePublishedNetworkSeparatesWithPatience) {
  const Mixture m = make_scenario(1, 20000, 1);
  MethodOptions options;
  options.form = "published";
  options.eta = 1e-3;
  options.tau = 0.5;
  options.passes = 10;
  options.shuffle = true;
  const Outcome out = method_named("sm-ica").run(m.mixtures, options);
  EXPECT_LT(mse(m.sources, out.model.apply(m.mixtures)), 0.05);
}

TEST(Methods, ANetworkThatIsNotThereYetSaysSo) {
  MethodOptions options;
  options.form = "published";  // 2e-5 and one pass are nothing
  const Outcome out = method_named("sm-ica").run(make_scenario(4, 5000, 4).mixtures, options);
  EXPECT_TRUE(warns(out.model, Warning::Kind::not_converged));
}

TEST(Methods, FewerComponentsFromEveryMethodByKurtosis) {
  Random random(5);
  const Mixture m =
      mix(make_sources({Source::square, Source::sine, Source::laplace}, 20000, Timing::iid, random),
          Matrix<double>(Vector<double>({{10.0, 5.0, 0.01}}).asDiagonal()));
  for (const Method& method : methods()) {
    if (!by_kurtosis(method)) continue;
    MethodOptions options;
    options.components = 2;
    const Outcome out = method.run(m.mixtures, options);
    EXPECT_EQ(out.model.components(), 2);
    EXPECT_NO_THROW(out.model.validate());
    EXPECT_LT(mse(m.sources.topRows(2), out.model.apply(m.mixtures)), 0.05) << method.name;
  }
}

// In the worst order: sorted by the first source.
TEST(Methods, OnlineMethodsAgreeWithTheirBatchMethodInAnyOrder) {
  Random random(6);
  Matrix<double> S =
      make_sources({Source::sine, Source::sawtooth, Source::laplace}, 20000, Timing::iid, random);
  std::vector<double> first(S.row(0).begin(), S.row(0).end());
  std::sort(first.begin(), first.end());
  for (Index t = 0; t < S.cols(); ++t) S(0, t) = first[static_cast<std::size_t>(t)];
  const Matrix<double> X = random.normal(3, 3) * S;
  struct Pair {
    const char *name, *batch;
    double tolerance;
  };
  // FastICA stops when no row has more than 4e-4 to turn.
  for (const auto& [name, batch, tolerance] :
       {Pair{"stream", "fastica", 1e-3}, Pair{"recursive-fobi", "fobi", 1e-8}}) {
    const Model expected = method_named(batch).run(X, {}).model;
    const Model model = method_named(name).run(X, {}).model;
    EXPECT_LT((model.unmixing - expected.unmixing).norm(), tolerance * expected.unmixing.norm()) << name;
    EXPECT_LT((model.mean - expected.mean).norm(), 1e-10) << name;
  }
}

TEST(Methods, LiveOutputsAreThoseOfTheirTime) {
  const Mixture m = make_scenario(1, 20000, 7);
  for (const char* name : {"stream", "recursive-fobi", "sm-ica"}) {
    MethodOptions options;
    options.online_output = true;
    const Outcome out = method_named(name).run(m.mixtures, options);
    ASSERT_EQ(out.online_output.cols(), 20000) << name;
    EXPECT_EQ(out.online_output.col(0).norm(), 0) << name;  // nothing is known yet
    EXPECT_LT(mse(m.sources.rightCols(5000), out.online_output.rightCols(5000)), 0.1)
        << name;  // and now it is
  }
  MethodOptions options;
  options.online_output = true;
  EXPECT_THROW(method_named("fobi").run(m.mixtures, options), NoSuchOption);
}

TEST(Methods, DivergenceIsToldWithAdvice) {
  MethodOptions options;
  options.form = "published";
  options.eta = 0.05;
  options.tau = 0.75;
  const Matrix<double> X = make_scenario(4, 20000, 2).mixtures;
  const std::string why = refusal<Diverged>([&] { method_named("sm-ica").run(X, options); });
  EXPECT_TRUE(contains(why, "eta") && contains(why, "natural")) << why;
}

TEST(Methods, WhatAMethodCannotDoItRefuses) {
  const Matrix<double> X = make_scenario(4, 500, 3).mixtures;
  const auto refuses = [&](const char* name, const char* option, auto&& set) {
    MethodOptions o;
    set(o);
    const std::string why = refusal<NoSuchOption>([&] { method_named(name).run(X, o); });
    EXPECT_TRUE(contains(why, option) && contains(why, name)) << name << " " << option << ": " << why;
  };
  refuses("fobi", "passes", [](MethodOptions& o) { o.passes = 2; });
  refuses("fobi", "shuffle", [](MethodOptions& o) { o.shuffle = true; });
  refuses("fobi", "whiten", [](MethodOptions& o) { o.whiten = false; });
  refuses("fobi", "eta", [](MethodOptions& o) { o.eta = 0.1; });
  refuses("sm-ica", "eta in its form natural", [](MethodOptions& o) { o.eta = 0.1; });
  refuses("sm-ica", "tau in its form natural", [](MethodOptions& o) { o.tau = 0.1; });
  refuses("stream", "activity_weight", [](MethodOptions& o) { o.weight = Weight::log; });
  refuses("easi", "tau", [](MethodOptions& o) { o.tau = 0.1; });
  refuses("easi", "lambda", [](MethodOptions& o) { o.lambda = {1, 2, 3}; });
}

TEST(Methods, OnlyOricaTakesTheNumberOfSubGaussianSources) {
  MethodOptions options;
  options.sub_gaussian = 1;
  for (const Method& m : methods()) {
    const std::string why = refusal<NoSuchOption>([&] { m.checked(options); });
    EXPECT_EQ(contains(why, "sub_gaussian"), m.name != "orica") << m.name << ": " << why;
  }
}

TEST(Methods, AFormThatIsNotThereIsAnsweredWithThoseThatAre) {
  MethodOptions options;
  options.form = "magic";
  for (const Method& m : methods()) {
    const std::string why = refusal<NoSuchForm>([&] { m.checked(options); });
    EXPECT_TRUE(contains(why, "'magic'")) << m.name << ": " << why;
    for (const Form& f : m.forms) EXPECT_TRUE(contains(why, f.name)) << m.name << ": " << why;
  }
}

TEST(Methods, WhatIsLeftToTheMethodIsFilledIn) {
  MethodOptions o = method_named("easi").checked({});
  EXPECT_EQ(o.form, "cubic");
  EXPECT_EQ(o.eta, method_named("easi").forms[0].eta);
  EXPECT_FALSE(o.tau);
  MethodOptions asked;
  asked.form = "tanh";
  asked.eta = 0.25;
  o = method_named("easi").checked(asked);
  EXPECT_EQ(o.form, "tanh");
  EXPECT_EQ(o.eta, 0.25);
  asked.eta.reset();
  EXPECT_EQ(method_named("easi").checked(asked).eta, method_named("easi").form_named("tanh").eta);
  o = method_named("psp").checked({});
  EXPECT_EQ(o.eta, 1e-3);
  EXPECT_EQ(o.tau, 1);
  o = method_named("sm-ica").checked({});
  EXPECT_EQ(o.form, "natural");
  EXPECT_FALSE(o.eta || o.tau);
  asked = {};
  asked.form = "published";
  o = method_named("sm-ica").checked(asked);
  EXPECT_EQ(o.eta, 2e-5);
  EXPECT_EQ(o.tau, 1.5);
}

TEST(Rules, EveryOneGivesAModelOrSaysWhyNot) {
  const Matrix<double> X = make_scenario(2, 3000, 1).mixtures;
  for (const Method& m : methods()) {
    if (!is_rule(m)) continue;
    for (const Form& form : m.forms) {
      MethodOptions options;
      options.form = form.name;
      options.whiten = true;
      Outcome out;
      try {
        out = m.run(X, options);
      } catch (const Diverged& e) {
        EXPECT_TRUE(contains(e.what(), m.name)) << e.what();
        continue;
      }
      EXPECT_NO_THROW(out.model.validate()) << m.name;
      EXPECT_EQ(out.model.method, m.name);
      EXPECT_EQ(out.model.components(), 3) << m.name;
      EXPECT_EQ(out.model.options.at("whiten"), "yes") << m.name;
      EXPECT_TRUE(out.model.options.contains("eta")) << m.name;
    }
  }
}

TEST(Rules, OneThatNeedsWhiteInputSaysSo) {
  const Mixture m = make_scenario(2, 20000, 1);
  const Method& rule = method_named("nonlinear-oja");
  const std::string why = refusal<std::invalid_argument>([&] { rule.run(m.mixtures, {}); });
  EXPECT_TRUE(contains(why, "white input") && contains(why, "whitened first")) << why;

  const Outcome whitened = rule.run(m.mixtures, patient(true));
  EXPECT_LT(scaled_mse(m, whitened.model), 0.05);
  EXPECT_FALSE(warns(whitened.model, Warning::Kind::not_converged));

  const Outcome coloured = rule.run(m.mixtures, patient(false));  // asked for, so done
  EXPECT_GT(scaled_mse(m, coloured.model), 0.05);
  EXPECT_TRUE(warns(coloured.model, Warning::Kind::not_converged));

  const Mixture white = make_scenario(1, 20000, 1);  // needs no asking
  EXPECT_NO_THROW(rule.run(white.mixtures, {}));
}

TEST(Rules, OneWithAsManyOutputsAsInputsNeedsWhiteningToGiveFewer) {
  Random random(5);
  const Mixture m =
      mix(make_sources({Source::square, Source::sine, Source::laplace}, 20000, Timing::iid, random),
          Matrix<double>(Vector<double>({{10.0, 5.0, 0.01}}).asDiagonal()));
  MethodOptions options;
  options.components = 2;
  const std::string why =
      refusal<std::invalid_argument>([&] { method_named("easi").run(m.mixtures, options); });
  EXPECT_TRUE(contains(why, "2 components out of 3 channels") && contains(why, "whitened first")) << why;

  options = patient(true);
  options.components = 2;
  options.online_output = true;
  const Outcome out = method_named("easi").run(m.mixtures, options);
  EXPECT_EQ(out.model.components(), 2);
  EXPECT_NO_THROW(out.model.validate());
  EXPECT_LT(mse(m.sources.topRows(2), standardized(out.model.apply(m.mixtures))), 0.05);
  EXPECT_EQ(out.online_output.rows(), 2);
  EXPECT_LT(mse(m.sources.topRows(2), standardized(out.online_output)), 0.05);

  options = {};
  options.components = 2;
  EXPECT_EQ(method_named("oja-subspace").run(m.mixtures, options).model.components(), 2);
}

// Three sources in five channels, two of them sums of others.
TEST(Rules, DependentChannelsAreReducedByWhitening) {
  const Mixture m = make_scenario(2, 20000, 4);
  Matrix<double> X(5, m.mixtures.cols());
  X.topRows(3) = m.mixtures;
  X.row(3) = m.mixtures.row(0) - m.mixtures.row(1);
  X.row(4) = 2 * m.mixtures.row(2);
  const std::string why = refusal<std::invalid_argument>([&] { method_named("easi").run(X, {}); });
  EXPECT_TRUE(contains(why, "3 components out of 5 channels") && contains(why, "whitened first")) << why;
  for (const char* name : {"easi", "nonlinear-oja", "orica"}) {
    const Outcome out = method_named(name).run(X, patient(true));
    EXPECT_EQ(out.model.components(), 3) << name;
    EXPECT_TRUE(warns(out.model, Warning::Kind::reduced_rank)) << name;
    EXPECT_LT(mse(m.sources, standardized(out.model.apply(X))), 0.05) << name;
  }
}

TEST(Rules, OneThatHasNotConvergedSaysSo) {
  const Mixture sub = make_scenario(2, 20000, 1);
  const Mixture both = make_scenario(4, 20000, 1);
  const Outcome done = method_named("easi").run(sub.mixtures, patient(false));
  EXPECT_LT(scaled_mse(sub, done.model), 0.05);
  EXPECT_FALSE(warns(done.model, Warning::Kind::not_converged));
  const Outcome unable = method_named("easi").run(both.mixtures, patient(false));
  EXPECT_GT(scaled_mse(both, unable.model), 0.05);
  EXPECT_TRUE(warns(unable.model, Warning::Kind::not_converged));
  MethodOptions hasty;
  hasty.eta = 1e-7;
  EXPECT_TRUE(warns(method_named("easi").run(sub.mixtures, hasty).model, Warning::Kind::not_converged));
  for (const Warning& w : unable.model.warnings) {
    if (w.kind != Warning::Kind::not_converged) continue;
    ASSERT_EQ(w.components.size(), 2U);
    EXPECT_NE(w.components[0], w.components[1]);
    EXPECT_TRUE(contains(w.text, "more passes")) << w.text;
  }
}

// BCM neurons that have found the same feature: no model can be made of that.
TEST(Rules, OutputsThatDependOnEachOtherAreNoModel) {
  int failed = 0;
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    Random random(seed);
    const Matrix<double> S =
        Matrix<double>::NullaryExpr(4, 20000, [&] { return -portable_log(1 - random.uniform()); });
    MethodOptions options = patient(true);
    options.seed = seed;
    const Matrix<double> X = random.orthogonal(4) * S;
    const std::string why = refusal<Diverged>([&] { method_named("bcm").run(X, options); });
    if (why.empty()) continue;
    ++failed;
    EXPECT_TRUE(contains(why, "bcm has come to outputs that depend on each other")) << why;
  }
  EXPECT_GE(failed, 1);
}

TEST(Rules, DivergenceIsToldWithAdvice) {
  const Matrix<double> X = make_scenario(4, 5000, 2).mixtures;
  for (const bool whiten : {false, true}) {
    MethodOptions options;
    options.eta = 1;
    if (whiten) options.whiten = true;
    const std::string why = refusal<Diverged>([&] { method_named("easi").run(X, options); });
    EXPECT_TRUE(contains(why, "easi diverged at frame ")) << why;
    EXPECT_TRUE(contains(why, "smaller eta")) << why;
    EXPECT_EQ(contains(why, "whitened input"), !whiten) << why;
    EXPECT_FALSE(contains(why, "natural form")) << why;
  }
}

}  // namespace
}  // namespace demix
