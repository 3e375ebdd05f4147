#include "problem.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "console.hpp"
#include "demix/io.hpp"
#include "demix/moments.hpp"
#include "demix/whitening.hpp"
#include "inputs.hpp"
#include "nearest_word.hpp"

namespace demix::cli {

void add_problem_options(Arguments& command, ProblemOptions& o) {
  Option scenario =
      command
          .option("--scenario", o.scenarios,
                  "Scenarios of the paper, comma-separated. 1, 2: square, sine, sawtooth; 3, 4: "
                  "square, sine, laplace. 1 and 3 are whitened")
          .comma_separated()
          .range(1, 4);
  Option sources =
      command.option("--sources", o.sources, "Sources to use instead of a scenario, comma-separated")
          .value("NAME")
          .comma_separated()
          .one_of(source_names())
          .excludes(scenario);
  Option data =
      command.option("--data", o.data, "File of true sources to mix at random, instead of a scenario")
          .value("FILE")
          .excludes(scenario)
          .excludes(sources);
  command.option("--whiten", o.whiten, "Whiten the mixtures")
      .one_of({"yes", "no"})
      .show_default()
      .excludes(scenario);
  command.renamed("--white", "--whiten yes");
  command.flag("--shuffle", o.shuffle, "Shuffle the frames of --data").needs(data);
  command
      .option("--condition", o.condition,
              "Condition number of the mixing matrix; 1 = a rotation (default: Gaussian entries)")
      .real_range(1, 1e12)
      .excludes(scenario);
  command.option("--draws", o.runs.seeds, "Number of random draws of sources, mixing and initial weights")
      .range(1, 1000000)
      .show_default();
  command.renamed("--seeds", "--draws");
  command.option("--frames", o.runs.samples, "Number of frames of each run, at most those of --data")
      .range(10, 1000000000)
      .show_default();
  command.renamed("--samples", "--frames");
  command.option("--seed", o.runs.seed, "First random seed").show_default();
  command
      .option("--threads", o.runs.threads,
              "Number of threads; the result does not depend on it (default one per core)")
      .range(1, 1024);
}

Contender contender(const std::string& option, const std::string& name) {
  const std::string method = name.substr(0, name.find_first_of(":@"));
  std::vector<std::string> known;
  for (const Method& m : methods()) known.emplace_back(m.name);
  if (const std::string nearest = suggestion(method, known);
      std::ranges::count(known, method) == 0 && !nearest.empty()) {
    throw UsageError(option, "unknown method '" + method + "'" + nearest);
  }
  try {
    Contender c = contender_named(name);
    if (!c.method->online) throw std::invalid_argument(name + " is a batch method; give an online method");
    return c;
  } catch (const std::invalid_argument& e) {
    throw UsageError(option, e.what());
  }
}

namespace {

// Sources that can be told apart: numbers throughout, none constant, none made of the others.
void require_sources(const std::string& file, const Matrix<double>& S) {
  if (S.cols() < 10) throw Failure(fmt::format("{}: has {} frames; at least 10 are needed", file, S.cols()));
  for (Index t = 0; t < S.cols(); ++t) {
    for (Index i = 0; i < S.rows(); ++i) {
      if (!std::isfinite(S(i, t))) {
        throw Failure(fmt::format("{}: channel {}, frame {} is not a number", file, i + 1, t + 1));
      }
    }
  }
  for (Index i = 0; i < S.rows(); ++i) {
    if (S.row(i).minCoeff() == S.row(i).maxCoeff()) {
      throw Failure(fmt::format("{}: channel {} is constant, which is no source", file, i + 1));
    }
  }
  Moments moments(S.rows());
  moments.add(S);
  if (const Index rank = whiten(moments, {}).rank; rank < S.rows()) {
    throw Failure(fmt::format("{}: {} channels hold only {} independent signals; they cannot be sources",
                              file, S.rows(), rank));
  }
}

}  // namespace

std::vector<Problem> problems(const ProblemOptions& o) {
  std::vector<Problem> all;
  if (o.by_scenario()) {
    if (o.whiten == "yes") throw UsageError("--whiten", "needs --sources or --data");
    if (o.condition > 0) throw UsageError("--condition", "needs --sources or --data");
    for (const int s : std::set(o.scenarios.begin(), o.scenarios.end())) all.push_back(scenario_problem(s));
    return all;
  }
  Problem p;
  p.white = o.whiten == "yes";
  p.condition = o.condition;
  p.shuffle = o.shuffle;
  for (const std::string& s : o.sources) {
    p.sources.push_back(source_named(s));
    p.name += (p.name.empty() ? "" : ", ") + s;
  }
  if (!o.data.empty()) {
    p.recording = gather(open(Inputs{}, {o.data}));
    require_sources(o.data, p.recording);
    p.name =
        std::filesystem::path(o.data).filename().string() + (o.shuffle ? ", shuffled" : ", in time order");
  }
  if (p.white) p.name += ", whitened";
  if (p.condition > 0) p.name += fmt::format(", condition {:g}", p.condition);
  if (p.size() < 2) {
    throw UsageError(o.data.empty() ? "--sources" : "--data",
                     "one source cannot be mixed; give at least two");
  }
  all.push_back(p);
  return all;
}

}  // namespace demix::cli
