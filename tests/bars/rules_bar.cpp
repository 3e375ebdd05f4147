// Every learning rule where its literature says it works, and where it is known to fail: how many of 100
// random draws (fewer without DEMIX_FULL=1) separate in one pass over 1e5 frames, with the rule's default
// settings.
#include <cstdio>
#include <cstdlib>

#include "demix/compare.hpp"
#include "demix/metrics.hpp"
#include "support.hpp"

namespace demix {
namespace {

bool full() { return std::getenv("DEMIX_FULL") != nullptr; }

Problem of(const char* name, const std::vector<Source>& sources, bool white, double condition = 0) {
  Problem p;
  p.name = name;
  p.sources = sources;
  p.white = white;
  p.condition = condition;
  return p;
}

const std::vector<Source> three_laplace(3, Source::laplace);
const std::vector<Source> three_uniform(3, Source::uniform);

// The share of draws that separate.
double share(const std::string& method, const Problem& problem) {
  CompareOptions options;
  options.seeds = full() ? 100 : 20;
  const Summary s = summarise(compare(problem, {contender_named(method)}, options), 0);
  std::printf("[  FIGURE  ] %s, %s: %ld of %ld separate, %ld diverge, median MSE %.1e, quartiles %.1e %.1e\n",
              method.c_str(), problem.name.c_str(), static_cast<long>(s.separated), static_cast<long>(s.runs),
              static_cast<long>(s.diverged), s.median.back(), s.low.back(), s.high.back());
  return static_cast<double>(s.separated) / static_cast<double>(s.runs);
}

void expect_works(const std::string& method, const Problem& problem) {
  EXPECT_GE(share(method, problem), 0.95) << method << " on " << problem.name;
}

void expect_fails(const std::string& method, const Problem& problem, double at_most = 0.1) {
  EXPECT_LE(share(method, problem), at_most) << method << " on " << problem.name;
}

const Problem laplace_white = of("three Laplace, whitened", three_laplace, true);
const Problem laplace_mixed = of("three Laplace, as mixed", three_laplace, false);
const Problem uniform_white = of("three uniform, whitened", three_uniform, true);

TEST(RulesBar, HeraultJutten) {
  expect_works("hj", scenario_problem(1));
  expect_works("hj:linear", scenario_problem(1));
  expect_fails("hj", laplace_white);
  expect_fails("hj:linear", laplace_white);
}

TEST(RulesBar, Easi) {
  for (const char* form : {"easi", "easi:normalised"}) {
    expect_works(form, scenario_problem(1));
    expect_works(form, scenario_problem(2));
    expect_fails(form, scenario_problem(3));
    expect_fails(form, scenario_problem(4));
  }
  for (const char* form : {"easi:tanh", "easi:normalised-tanh"}) {
    expect_works(form, laplace_white);
    expect_works(form, laplace_mixed);
    expect_fails(form, scenario_problem(1));
  }
}

TEST(RulesBar, NonlinearOja) {
  expect_works("nonlinear-oja", scenario_problem(1));
  expect_fails("nonlinear-oja", scenario_problem(2));  // it needs white input
  expect_fails("nonlinear-oja", scenario_problem(4));
}

TEST(RulesBar, Infomax) {
  expect_works("infomax:cubic", scenario_problem(1));
  expect_works("infomax:tanh", laplace_white);
  expect_works("infomax:logistic", laplace_white);
  for (const char* form : {"infomax:tanh", "infomax:logistic"}) {  // for super-Gaussian sources only
    expect_fails(form, scenario_problem(1));
    expect_fails(form, scenario_problem(2));
  }
  for (int scenario = 1; scenario <= 4; ++scenario) expect_works("infomax", scenario_problem(scenario));
  expect_works("infomax", laplace_white);
}

TEST(RulesBar, Amari) {
  expect_works("amari", scenario_problem(1));
  expect_works("amari", scenario_problem(2));
  expect_works("amari:polynomial", scenario_problem(1));
  expect_fails("amari", laplace_white);
  expect_fails("amari:polynomial", scenario_problem(3));
  expect_fails("amari:polynomial", scenario_problem(4));
}

TEST(RulesBar, ErrorGatedHebbian) {
  expect_works("eghr:laplace", laplace_white);
  expect_works("eghr:uniform", uniform_white);
  expect_fails("eghr:laplace", uniform_white);       // the wrong density
  expect_fails("eghr:laplace", laplace_mixed, 0.8);  // well-conditioned mixings apart
  expect_fails("eghr:uniform", of("three uniform, as mixed", three_uniform, false),
               0.5);  // well-conditioned ones
}

TEST(RulesBar, BioNica) {
  const std::vector<Source> three(3, Source::nonnegative);
  expect_works("bio-nica", of("three nonnegative, rotated", three, false, 1));
  expect_fails("bio-nica", scenario_problem(1));  // sources of both signs
}

TEST(RulesBar, Orica) {
  for (int scenario = 1; scenario <= 4; ++scenario) expect_works("orica", scenario_problem(scenario));
  expect_works("orica", laplace_mixed);
}

TEST(RulesBar, TheNetworkAndTheStream) {
  for (int scenario = 1; scenario <= 4; ++scenario) {
    expect_works("sm-ica", scenario_problem(scenario));
    expect_works("stream", scenario_problem(scenario));
  }
  expect_fails("sm-ica", laplace_mixed, 0.5);  // equal kurtoses: what separates does so by chance
  expect_works("stream", laplace_mixed);
  expect_fails("sm-ica:published", scenario_problem(3));
  expect_fails("sm-ica:published", scenario_problem(4));
}

TEST(RulesBar, OricaOf32Sources) {
  std::vector<Source> sources(16, Source::laplace);
  sources.resize(32, Source::uniform);
  for (const bool known : {true, false}) {
    std::vector<double> amari;
    for (int seed = 0; seed < (full() ? 20 : 3); ++seed) {
      const Mixture m = of("32", sources, false).draw(100000, static_cast<std::uint64_t>(seed));
      const Method& orica = method_named("orica");
      MethodOptions options;
      if (known) options.sub_gaussian = 16;
      options.seed = static_cast<std::uint64_t>(seed);
      const auto separator = orica.start(32, 32, options);
      Vector<double> x(32);
      Vector<double> y(32);
      for (Index t = 0; t < m.mixtures.cols(); ++t) {
        x = m.mixtures.col(t);
        ASSERT_TRUE(separator->step(x, y));
      }
      amari.push_back(amari_index(separator->unmixing() * m.mixing));
    }
    std::printf(
        "[  FIGURE  ] orica, 16 Laplace + 16 uniform, 1e5 frames, %s: Amari median %.4f, worst %.4f of %zu\n",
        known ? "number of sub-Gaussian sources given" : "signs found online", testing::median(amari),
        testing::largest(amari), amari.size());
    EXPECT_LE(testing::largest(amari), 0.02);
  }
}

}  // namespace
}  // namespace demix
