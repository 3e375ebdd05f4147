#include "demix/compare.hpp"

#include <atomic>
#include <cmath>
#include <set>

#include "demix/metrics.hpp"
#include "experiments/run.hpp"
#include "support.hpp"

namespace demix {
namespace {

CompareOptions few(Index samples, Index seeds, int threads = 1) { return {samples, seeds, 3, threads, {}}; }

TEST(Contender, IsReadFromItsName) {
  const Contender c = contender_named("infomax:cubic@5e-4");
  EXPECT_EQ(c.method->name, "infomax");
  EXPECT_EQ(c.options.form, "cubic");
  EXPECT_EQ(c.options.eta, 5e-4);
  EXPECT_EQ(contender_named("stream").options.form, "");
  EXPECT_THROW(contender_named("magic"), std::invalid_argument);
  EXPECT_THROW(contender_named("easi:magic"), NoSuchForm);
  EXPECT_THROW(contender_named("stream@1e-3"), NoSuchOption);  // has no learning rate
  for (const char* word : {"easi@", "easi@x", "easi@-1", "easi@1e-3x", "easi@nan"}) {
    EXPECT_THROW(contender_named(word), std::invalid_argument) << word;
  }
}

TEST(Contender, ThePublishedNetworkTakesTheTablesSettings) {
  const MethodOptions o = settings(contender_named("sm-ica:published"), scenario_problem(4));
  EXPECT_EQ(o.eta, 5e-4);
  EXPECT_EQ(o.tau, 0.85);
  EXPECT_EQ(o.lambda, (std::vector<double>{1, 1.5, 6.07}));
  EXPECT_EQ(settings(contender_named("sm-ica:published@1e-3"), scenario_problem(4)).eta, 1e-3);
  EXPECT_EQ(settings(contender_named("easi"), scenario_problem(4)).eta, 1e-4);
}

TEST(Problem, DrawsTheScenarios) {
  for (int scenario = 1; scenario <= 4; ++scenario) {
    const Mixture ours = scenario_problem(scenario).draw(500, 7);
    EXPECT_EQ(ours.mixtures, make_scenario(scenario, 500, 7).mixtures);
  }
}

TEST(Problem, ARecordingKeepsItsOrderUnlessShuffled) {
  Problem p;
  p.recording = Random(1).normal(3, 400);
  EXPECT_EQ(p.draw(1000, 5).sources, standardized(p.recording));  // no more frames than there are
  EXPECT_EQ(p.draw(100, 5).sources, standardized(p.recording.leftCols(100)));
  EXPECT_NE(p.draw(100, 5).mixing, p.draw(100, 6).mixing);
  p.shuffle = true;
  const Matrix<double> shuffled = p.draw(400, 5).sources;
  EXPECT_NE(shuffled, standardized(p.recording));
  EXPECT_NEAR(shuffled.array().cube().sum(), standardized(p.recording).array().cube().sum(), 1e-9);
}

TEST(Compare, IsTheSameForAnyNumberOfThreads) {
  const auto contenders = paper_contenders();
  const Comparison one = compare(scenario_problem(2), contenders, few(3000, 3, 1));
  const Comparison four = compare(scenario_problem(2), contenders, few(3000, 3, 4));
  ASSERT_EQ(one.runs.size(), 3 * contenders.size());
  for (std::size_t k = 0; k < one.runs.size(); ++k) {
    EXPECT_EQ(one.runs[k].seed, 3 + k / contenders.size());
    EXPECT_EQ(one.runs[k].contender, static_cast<Index>(k % contenders.size()));
    EXPECT_EQ(one.runs[k].diverged, four.runs[k].diverged);
    for (std::size_t f = 0; f < one.frames.size(); ++f) {
      if (std::isnan(one.runs[k].mse[f])) continue;
      EXPECT_EQ(one.runs[k].mse[f], four.runs[k].mse[f]);
      EXPECT_EQ(one.runs[k].running[f], four.runs[k].running[f]);
    }
  }
}

// The same run by hand, on the outputs instead of on matrices.
TEST(Compare, MeasuresWhatItSays) {
  const Problem problem = scenario_problem(1);
  const Comparison c = compare(problem, {contender_named("easi@1e-3")}, few(20000, 1));
  const Mixture m = problem.draw(20000, 3);
  MethodOptions options;
  options.eta = 1e-3;
  options.seed = 3;
  const Method& easi = method_named("easi");
  const auto separator = easi.start(3, 3, options);
  Matrix<double> Y(3, 20000);
  Vector<double> x(3);
  Vector<double> y(3);
  const Vector<double> mean = m.mixtures.rowwise().mean();
  for (Index t = 0; t < 20000; ++t) {
    x = m.mixtures.col(t) - mean;
    ASSERT_TRUE(separator->step(x, y));
    Y.col(t) = y;
  }
  EXPECT_EQ(c.frames.front(), 10);
  EXPECT_EQ(c.frames.back(), 20000);
  EXPECT_NEAR(c.runs[0].running.back(), mse(m.sources, Y), 1e-12);
  const Matrix<double> final = separator->unmixing() * (m.mixtures.colwise() - mean);
  const Matrix<double> S = m.sources.colwise() - m.sources.rowwise().mean();
  EXPECT_NEAR(c.runs[0].mse.back(), mse(S, standardized(final)), 1e-9);
  EXPECT_LT(c.runs[0].mse.back(), 0.05);
}

TEST(Compare, DivergedRunsAreCountedNotAveragedAway) {
  const Comparison c =
      compare(scenario_problem(3), {contender_named("sm-ica:published"), contender_named("stream")},
              few(20000, 4, 2));
  const Summary published = summarise(c, 0);
  EXPECT_EQ(published.runs, 4);
  EXPECT_EQ(published.diverged, 4);
  EXPECT_EQ(published.separated, 0);
  EXPECT_TRUE(std::isinf(published.median.back()));
  EXPECT_TRUE(std::isfinite(published.median.front()));
  EXPECT_EQ(summarise(c, 1).separated, 4);
  EXPECT_LT(summarise(c, 1).high.back(), separated_mse);
}

// Runs at one frame, of one contender beside another.
Summary summary_of(const std::vector<double>& mse) {
  Comparison c;
  c.frames = {100};
  for (std::size_t k = 0; k < mse.size(); ++k) {
    const bool failed = !std::isfinite(mse[k]);
    c.runs.push_back({1, k, {mse[k]}, {2 * mse[k]}, failed ? Index{7} : Index{0}});
    c.runs.push_back({0, k, {1e9}, {1e9}, 0});
  }
  const Summary running = summarise(c, 1, &Run::running);
  const Summary s = summarise(c, 1);
  EXPECT_EQ(running.median[0], 2 * s.median[0]);
  return s;
}

// Between two runs, as far from each as the share of runs says.
TEST(Compare, QuartilesAreInterpolated) {
  Summary s = summary_of({10, 1, 3, 2});
  EXPECT_EQ(s.low, (std::vector<double>{1.75}));
  EXPECT_EQ(s.median, (std::vector<double>{2.5}));
  EXPECT_EQ(s.high, (std::vector<double>{4.75}));
  s = summary_of({5, 1, 9});
  EXPECT_EQ(s.low, (std::vector<double>{3}));
  EXPECT_EQ(s.median, (std::vector<double>{5}));
  EXPECT_EQ(s.high, (std::vector<double>{7}));
  EXPECT_EQ(summary_of({4}).high, (std::vector<double>{4}));
}

TEST(Compare, QuartilesTakeDivergedRunsAsInfinitelyWrong) {
  const double nan = std::nan("");
  Summary s = summary_of({nan, 1, 2});  // the median is a run of its own
  EXPECT_EQ(s.low[0], 1.5);
  EXPECT_EQ(s.median[0], 2);
  EXPECT_TRUE(std::isinf(s.high[0]));
  EXPECT_EQ(s.runs, 3);
  EXPECT_EQ(s.diverged, 1);
  s = summary_of({nan, 1, 2, nan});
  EXPECT_TRUE(std::isinf(s.median[0]));
  EXPECT_EQ(s.low[0], 1.75);
  EXPECT_TRUE(std::isinf(summary_of({nan, nan}).low[0]));
  s = summary_of({0.5 * separated_mse, 2 * separated_mse, nan});
  EXPECT_EQ(s.separated, 1);
}

TEST(Compare, Refuses) {
  const Problem p = scenario_problem(1);
  EXPECT_THROW(compare(p, {}, few(100, 1)), std::invalid_argument);
  EXPECT_THROW(compare(p, {contender_named("fobi")}, few(100, 1)), std::invalid_argument);
  EXPECT_THROW(compare(p, {contender_named("stream")}, few(5, 1)), std::invalid_argument);
  EXPECT_THROW(compare(p, {contender_named("stream")}, few(100, 0)), std::invalid_argument);
  Contender wrong = contender_named("sm-ica:published");
  wrong.options.lambda = {1, 2};  // three are needed: thrown in a thread, caught here
  EXPECT_THROW(compare(p, {wrong}, few(100, 4, 3)), std::invalid_argument);
}

TEST(Tune, FindsARateThatWorksAndDoesNotRepeatItself) {
  TuneOptions options;
  options.etas = {1e-6, 1e-3, 1};
  options.runs = few(20000, 2, 2);
  std::vector<Cell> finished;
  options.finished = [&](const Cell& c) { finished.push_back(c); };
  const std::vector<Cell> cells = tune(scenario_problem(1), contender_named("easi"), options);
  ASSERT_EQ(cells.size(), 3U);  // easi has no tau
  EXPECT_EQ(finished.size(), 3U);
  EXPECT_EQ(best(cells).eta, 1e-3);
  EXPECT_EQ(best(cells).separated, 2);
  EXPECT_EQ(cells[2].diverged, 2);
  EXPECT_TRUE(std::isinf(cells[2].mse));

  options.known = {cells[0], cells[1]};
  finished.clear();
  const std::vector<Cell> again = tune(scenario_problem(1), contender_named("easi"), options);
  ASSERT_EQ(finished.size(), 1U);
  EXPECT_EQ(finished[0].eta, 1);
  for (std::size_t k = 0; k < cells.size(); ++k) EXPECT_EQ(again[k].mse, cells[k].mse);
}

TEST(Tune, SearchesTauWhereThereIsOne) {
  TuneOptions options;
  options.etas = {1e-4, 1e-3};
  options.taus = {0.5, 1, 2};
  options.runs = few(1000, 1, 1);
  const std::vector<Cell> cells = tune(scenario_problem(1), contender_named("sm-ica:published"), options);
  ASSERT_EQ(cells.size(), 6U);
  EXPECT_EQ(cells[0].tau, 0.5);
  EXPECT_EQ(cells[1].tau, 0.5);
  EXPECT_EQ(cells[5].tau, 2);
  EXPECT_THROW(tune(scenario_problem(1), contender_named("stream"), options), std::invalid_argument);
  options.etas = {-1};
  EXPECT_THROW(tune(scenario_problem(1), contender_named("easi"), options), std::invalid_argument);
}

}  // namespace
}  // namespace demix
