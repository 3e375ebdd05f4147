#include "demix/compare.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>

#include "commands.hpp"
#include "console.hpp"
#include "core/progress.hpp"
#include "demix/experiment_figures.hpp"
#include "demix/file_use.hpp"
#include "demix/io.hpp"
#include "demix/output_files.hpp"
#include "demix/trace_files.hpp"
#include "problem.hpp"
#include "trace_option.hpp"

namespace demix::cli {
namespace {

struct Options {
  ProblemOptions problem;
  std::vector<std::string> methods;
  std::string measure = "now";
  std::string folder;
  std::string trace;
  bool json = false;
};

struct Result {
  Problem problem;
  Comparison comparison;
};

using Measure = std::vector<double> Run::*;

constexpr std::size_t most_curves = 14;

std::string runs_csv(const std::vector<Result>& results, const std::vector<Contender>& contenders) {
  std::string out = "problem,method,seed,frames,mse,running_mse,diverged_at\n";
  for (const Result& r : results) {
    for (const Run& run : r.comparison.runs) {
      for (std::size_t k = 0; k < r.comparison.frames.size(); ++k) {
        const auto number = [](double v) {
          return std::isfinite(v) ? fmt::format("{:.6g}", v) : std::string();
        };
        out += fmt::format("\"{}\",{},{},{},{},{},{}\n", r.problem.name,
                           contenders[static_cast<std::size_t>(run.contender)].label, run.seed,
                           r.comparison.frames[k], number(run.mse[k]), number(run.running[k]),
                           run.diverged > 0 ? std::to_string(run.diverged) : "");
      }
    }
  }
  return out;
}

nlohmann::ordered_json numbers(const std::vector<double>& values) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const double v : values) out.push_back(std::isfinite(v) ? nlohmann::ordered_json(v) : nullptr);
  return out;
}

nlohmann::ordered_json as_json(const std::vector<Result>& results, const std::vector<Contender>& contenders,
                               const ProblemOptions& o, Measure measure, bool every_run) {
  nlohmann::ordered_json all = {{"measure", measure == &Run::mse ? "now" : "running"},
                                {"seeds", o.runs.seeds},
                                {"seed", o.runs.seed},
                                {"separated_below", separated_mse}};
  for (const Result& r : results) {
    nlohmann::ordered_json problem = {{"problem", r.problem.name}, {"frames", r.comparison.frames}};
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const Summary s = summarise(r.comparison, static_cast<Index>(c), measure);
      problem["methods"].push_back(
          {{"method", contenders[c].label},
           {"runs", s.runs},
           {"separated", s.separated},
           {"diverged", s.diverged},
           {"mse", {{"low", numbers(s.low)}, {"median", numbers(s.median)}, {"high", numbers(s.high)}}}});
    }
    if (every_run) {
      for (const Run& run : r.comparison.runs) {
        problem["runs"].push_back(
            {{"method", contenders[static_cast<std::size_t>(run.contender)].label},
             {"seed", run.seed},
             {"diverged_at", run.diverged > 0 ? nlohmann::ordered_json(run.diverged) : nullptr},
             {"mse", numbers(run.mse)},
             {"running_mse", numbers(run.running)}});
      }
    }
    all["problems"].push_back(problem);
  }
  return all;
}

// From which of the measured frames on the median run has separated.
std::string frames_needed(const Comparison& c, const Summary& s) {
  std::size_t k = s.median.size();
  while (k > 0 && s.median[k - 1] < separated_mse) --k;
  return k == s.median.size() ? "-" : std::to_string(c.frames[k]);
}

void print_table(const std::vector<Result>& results, const std::vector<Contender>& contenders,
                 Measure measure) {
  for (const Result& r : results) {
    fmt::print("{}, {} frames\n", r.problem.name, r.comparison.frames.back());
    fmt::print("  {:<24}{:>11}{:>10}{:>10}{:>20}{:>14}\n", "method", "separated", "diverged", "median",
               "quartiles", "frames to .05");
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const Summary s = summarise(r.comparison, static_cast<Index>(c), measure);
      fmt::print("  {:<24}{:>11}{:>10}{:>10}{:>20}{:>14}\n", contenders[c].label,
                 fmt::format("{}/{}", s.separated, s.runs), s.diverged, scientific(s.median.back()),
                 scientific(s.low.back()) + " " + scientific(s.high.back()), frames_needed(r.comparison, s));
    }
    fmt::print("\n");
  }
}

report::ConvergenceFigure figure(const std::vector<Result>& results, const std::vector<Contender>& contenders,
                                 const Options& o, Measure measure) {
  report::ConvergenceFigure f;
  f.title = fmt::format("{} over {} draw{}: median and quartiles",
                        measure == &Run::mse ? "Error of the demixing matrix" : "Error of the outputs so far",
                        o.problem.runs.seeds, o.problem.runs.seeds == 1 ? "" : "s");
  f.threshold = separated_mse;
  for (const Result& r : results) {
    f.panels.push_back(convergence_panel(r.problem.name, r.comparison, contenders, measure));
  }
  return f;
}

void require_different(const std::vector<Contender>& contenders, bool drawn) {
  std::set<std::string> labels;
  for (const Contender& c : contenders) {
    if (!labels.insert(c.label).second) throw UsageError("--method", c.label + " is given twice");
  }
  if (drawn && labels.size() > most_curves) {
    throw UsageError("--method", fmt::format("a picture can show {}; give fewer, or no -o", most_curves));
  }
}

// Of all networks on the first draw: arrays named PROBLEM/METHOD/W and so on.
std::vector<std::filesystem::path> write_traces(const std::string& file, const std::vector<Result>& results,
                                                const std::vector<Contender>& contenders) {
  std::vector<io::Array> arrays;
  std::vector<TitledTrace> traces;
  for (const Result& r : results) {
    for (const auto& [c, trace] : r.comparison.traces) {
      const std::string& label = contenders[static_cast<std::size_t>(c)].label;
      for (io::Array& array : trace_arrays(trace, r.problem.name + "/" + label + "/")) {
        arrays.push_back(std::move(array));
      }
      traces.push_back({r.problem.name + ", " + label, &trace});
    }
  }
  io::write_file(file, io::to_npz(arrays));
  std::vector<std::filesystem::path> files{file};
  for (const auto& picture : try_to_draw(file, traces)) files.push_back(picture);
  return files;
}

void run(Options& o) {
  if (o.problem.scenarios.empty()) o.problem.scenarios = {1, 2, 3, 4};
  std::vector<Contender> contenders;
  for (const std::string& m : o.methods) contenders.push_back(contender("--method", m));
  if (contenders.empty()) contenders = paper_contenders();
  require_different(contenders, !o.folder.empty());
  const std::filesystem::path folder = o.folder;
  io::FileUse use;
  use.also_reads_signals(o.problem.data);
  if (!o.folder.empty()) {
    use.also_writes({folder / "runs.csv", folder / "comparison.json", folder / "comparison.png",
                     folder / "comparison.svg"});
  }
  const std::vector<Problem> all = problems(o.problem);
  const auto networks = static_cast<std::size_t>(
      std::ranges::count_if(contenders, [](const Contender& c) { return c.method->is_network; }));
  if (!o.trace.empty() && networks == 0) throw UsageError("--trace", "there is no network among the methods");
  io::require_different_files(use.also_writes(trace_paths(o.trace, networks * all.size())));
  for (const Problem& problem : all) require_suitable(problem, contenders);
  if (!o.folder.empty()) io::make_folder(o.folder);

  std::vector<Result> results;
  {
    Progress bar("comparing");
    for (std::size_t p = 0; p < all.size(); ++p) {
      CompareOptions options = o.problem.runs;
      options.trace = !o.trace.empty();
      const auto share = [&](std::size_t done) {
        return static_cast<double>(done) / static_cast<double>(all.size());
      };
      options.progress = part_of(std::ref(bar), share(p), share(p + 1));
      results.push_back({all[p], compare(all[p], contenders, options)});
    }
  }
  const Measure measure = o.measure == "now" ? &Run::mse : &Run::running;
  if (o.json) {
    print_json(as_json(results, contenders, o.problem, measure, false));
  } else {
    print_table(results, contenders, measure);
  }
  if (!o.trace.empty()) {
    for (const auto& file : write_traces(o.trace, results, contenders)) tell(o.json, file.string());
  }
  if (o.folder.empty()) return;
  io::write_files(
      {{folder / "runs.csv", runs_csv(results, contenders)},
       {folder / "comparison.json", json_text(as_json(results, contenders, o.problem, measure, true))}});
  std::vector<std::filesystem::path> files{folder / "runs.csv", folder / "comparison.json"};
  try {
    for (const auto& picture : report::draw(figure(results, contenders, o, measure), folder / "comparison")) {
      files.push_back(picture);
    }
  } catch (const std::exception& e) {  // the numbers are what took long
    message("warning: no picture: {}", e.what());
  }
  for (const auto& file : files) tell(o.json, file.string());
}

}  // namespace

void add_compare(Program& program) {
  Arguments sub =
      program.command("compare", "Compare online methods: error over time, over many random draws");
  auto o = std::make_shared<Options>();
  add_problem_options(sub, o->problem);
  sub.option("-m,--method", o->methods,
             "Methods, comma-separated, each NAME[:FORM][@ETA], see `demix methods` (default: those of the "
             "paper, sm-ica and stream)")
      .value("NAME")
      .comma_separated();
  sub.renamed("--methods", "--method");
  sub.option(
         "--measure", o->measure,
         "Error to report. now: of the current demixing matrix, with outputs scaled to variance 1; running: "
         "mean over all outputs so far, as in the paper")
      .one_of({"now", "running"})
      .show_default();
  sub.option("-o,--output", o->folder, "Folder for the figure, runs.csv and comparison.json")
      .value("FOLDER")
      .named();
  add_trace_option(sub, o->trace, "Networks, on the first draw");
  sub.flag("--json", o->json, "Print JSON");
  sub.footer(
      "Without --scenario, --sources and --data, all four scenarios are run. A run counts as separated if "
      "its error ends below 0.05, by the measure now.");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
