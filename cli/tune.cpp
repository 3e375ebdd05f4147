#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <memory>

#include "cell_notebook.hpp"
#include "commands.hpp"
#include "console.hpp"
#include "demix/experiment_figures.hpp"
#include "demix/file_use.hpp"
#include "demix/output_files.hpp"
#include "problem.hpp"

namespace demix::cli {
namespace {

struct Options {
  ProblemOptions problem;
  std::string method = "sm-ica:published";
  std::vector<double> etas = paper_etas();
  std::vector<double> taus;  // the paper's, unless given
  std::string folder;
  bool json = false;
};

// What the data is, beyond its name: a file may have changed, or be another of that name.
std::string fingerprint(const std::string& data) {
  if (data.empty()) return "";
  const std::filesystem::path path = std::filesystem::canonical(data);
  return fmt::format(" ({}, {} bytes, written {})", path.string(), std::filesystem::file_size(path),
                     std::filesystem::last_write_time(path).time_since_epoch().count());
}

void sort_unique(std::vector<double>& values) {
  std::ranges::sort(values);
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

std::string cell_text(const Cell& c) { return c.diverged == c.runs ? "diverged" : scientific(c.mse); }

// One line per eta, one column per tau.
void print_table(const std::vector<Cell>& cells, std::size_t etas) {
  const bool has_tau = cells[0].tau > 0;
  fmt::print("median MSE at the end (runs that separated)\n{:>10}", "eta");
  for (std::size_t k = 0; has_tau && k < cells.size(); k += etas) {
    fmt::print("{:>13}", fmt::format("{}{:g}", k == 0 ? "tau " : "", cells[k].tau));
  }
  for (std::size_t e = 0; e < etas; ++e) {
    fmt::print("\n{:>10g}", cells[e].eta);
    for (std::size_t k = e; k < cells.size(); k += etas) {
      fmt::print("{:>13}", fmt::format("{} ({})", cell_text(cells[k]), cells[k].separated));
    }
  }
  fmt::print("\n");
}

void run(Options& o) {
  const Contender tuned = contender("--method", o.method);
  if (!tuned.method->checked(tuned.options).eta) {
    throw UsageError("--method", tuned.label + " has no learning rate to tune");
  }
  if (tuned.options.eta) throw UsageError("--method", "takes no @ETA here; that is what is searched");
  if (o.taus.empty()) {
    o.taus = paper_taus();
  } else if (tuned.method->tau == 0) {
    throw UsageError("--tau", tuned.label + " has none");
  }
  const std::filesystem::path folder = o.folder;
  io::FileUse use;
  use.also_reads_signals(o.problem.data);
  if (!o.folder.empty()) {
    use.also_writes({folder / "cells.csv", folder / "surface.png", folder / "surface.svg"});
  }
  io::require_different_files(use);
  sort_unique(o.etas);
  sort_unique(o.taus);
  if (o.problem.scenarios.empty()) o.problem.scenarios = {4};
  const std::vector<Problem> all = problems(o.problem);
  if (all.size() > 1) throw UsageError("--scenario", "tune takes one");
  const Problem& problem = all[0];
  std::unique_ptr<CellNotebook> notebook;
  TuneOptions options;
  options.etas = o.etas;
  options.taus = o.taus;
  options.runs = o.problem.runs;
  if (!o.folder.empty()) {
    io::make_folder(folder);
    notebook = std::make_unique<CellNotebook>(
        folder / "cells.csv", fmt::format("{} on {}{}, {} frames, seeds {} to {}", tuned.label, problem.name,
                                          fingerprint(o.problem.data), problem.frames(options.runs.samples),
                                          options.runs.seed, options.runs.seed + options.runs.seeds - 1));
    options.known = notebook->cells;
    options.finished = [&](const Cell& c) { notebook->add(c); };
  }
  std::vector<Cell> cells;
  {
    Progress bar("tuning");
    options.runs.progress = [&](double share) { bar(share); };
    cells = tune(problem, tuned, options);
  }
  const Cell& winner = best(cells);
  const std::size_t columns = o.etas.size();
  if (o.json) {
    nlohmann::ordered_json out = {{"method", tuned.label}, {"problem", problem.name}};
    const auto cell = [](const Cell& c) {
      return nlohmann::ordered_json{
          {"eta", c.eta},           {"tau", c.tau > 0 ? nlohmann::ordered_json(c.tau) : nullptr},
          {"runs", c.runs},         {"separated", c.separated},
          {"diverged", c.diverged}, {"mse", std::isfinite(c.mse) ? nlohmann::ordered_json(c.mse) : nullptr}};
    };
    out["best"] = cell(winner);
    for (const Cell& c : cells) out["cells"].push_back(cell(c));
    print_json(out);
  } else {
    fmt::print("{} on {}, {} draws of {} frames\n\n", tuned.label, problem.name, options.runs.seeds,
               problem.frames(options.runs.samples));
    print_table(cells, columns);
    if (winner.separated == 0) fmt::print("\nnone separates; the least wrong: eta {:g}", winner.eta);
    if (winner.separated > 0) fmt::print("\nbest: eta {:g}", winner.eta);
    if (winner.tau > 0) fmt::print(", tau {:g}", winner.tau);
    fmt::print(": {} of {} separated, median MSE {}\n", winner.separated, winner.runs,
               scientific(winner.mse));
  }
  if (o.folder.empty()) return;
  const std::string title =
      fmt::format("{} on {}: median MSE, and how many of the runs separated", tuned.label, problem.name);
  tell(o.json, "\n" + (folder / "cells.csv").string());
  try {
    for (const auto& picture : report::draw(heat_map(title, cells), folder / "surface")) {
      tell(o.json, picture.string());
    }
  } catch (const std::exception& e) {  // the numbers are what took long
    message("warning: no picture: {}", e.what());
  }
}

}  // namespace

void add_tune(Program& program) {
  Arguments sub = program.command("tune", "Grid search of the learning rate eta, and of tau");
  auto o = std::make_shared<Options>();
  o->problem.runs.seeds = 5;
  sub.option("-m,--method", o->method, "Method as NAME[:FORM], see `demix methods`")
      .value("NAME")
      .show_default();
  add_problem_options(sub, o->problem);
  sub.option("--eta", o->etas,
             "Values of eta to try, comma-separated (default: those of the paper, 1e-5 to 5e-2)")
      .comma_separated()
      .positive();
  sub.option("--tau", o->taus, "Values of tau to try, comma-separated (default: those of the paper)")
      .comma_separated()
      .positive();
  sub.option("-o,--output", o->folder,
             "Folder for cells.csv and a heat map. An interrupted search is resumed from there")
      .value("FOLDER")
      .named();
  sub.footer("Without --scenario, --sources and --data, scenario 4 is used.");
  sub.flag("--json", o->json, "Print JSON");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
