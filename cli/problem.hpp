#pragma once

#include "arguments.hpp"
#include "demix/compare.hpp"

/// What `compare` and `tune` have in common: the options that say what is to be separated, and how often.
namespace demix::cli {

struct ProblemOptions {
  std::vector<int> scenarios;
  std::vector<std::string> sources;
  std::string data;
  std::string whiten = "no";
  bool shuffle = false;
  double condition = 0;
  CompareOptions runs;

  bool by_scenario() const { return sources.empty() && data.empty(); }
};

void add_problem_options(Arguments& command, ProblemOptions& o);

/// A method by its name; a name that is none is misuse of `option`.
Contender contender(const std::string& option, const std::string& name);

/// One problem per scenario, or the one asked for instead.
std::vector<Problem> problems(const ProblemOptions& o);

}  // namespace demix::cli
