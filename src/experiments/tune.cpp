#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <stdexcept>
#include <tuple>

#include "demix/compare.hpp"
#include "experiments/parallel.hpp"
#include "experiments/run.hpp"

namespace demix {
namespace {

void require_positive(const std::vector<double>& values, const char* name) {
  const bool ok = !values.empty() && std::all_of(values.begin(), values.end(),
                                                 [](double v) { return std::isfinite(v) && v > 0; });
  if (!ok) throw std::invalid_argument(std::string(name) + ": expected positive numbers");
}

Cell measure(const Problem& problem, const Contender& contender, Cell cell, const CompareOptions& o) {
  Contender tuned = contender;
  tuned.options.eta = cell.eta;
  if (cell.tau > 0) tuned.options.tau = cell.tau;
  try {
    require_suitable(problem, {tuned});
  } catch (const std::invalid_argument&) {  // such rates are not allowed together
    return {cell.eta, cell.tau, o.seeds, 0, o.seeds, std::numeric_limits<double>::infinity()};
  }
  CompareOptions alone = o;
  alone.threads = 1;
  alone.progress = {};
  const Summary s = summarise(compare(problem, {tuned}, alone), 0);
  return {cell.eta, cell.tau, s.runs, s.separated, s.diverged, s.median.back()};
}

}  // namespace

std::vector<double> paper_etas() {
  return {1e-5, 2e-5, 5e-5, 1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2, 2e-2, 5e-2};
}

std::vector<double> paper_taus() { return {0.1, 0.5, 0.75, 0.85, 0.9, 1, 1.5, 2}; }

std::vector<Cell> tune(const Problem& problem, const Contender& contender, const TuneOptions& options) {
  const MethodOptions complete = settings(contender, problem);
  if (!contender.method->online || !complete.eta) {
    throw std::invalid_argument("method " + contender.label + " has no learning rate to tune");
  }
  require_positive(options.etas, "eta");
  std::vector<double> taus{0};
  if (complete.tau) {
    require_positive(options.taus, "tau");
    taus = options.taus;
  }
  std::vector<Cell> cells;
  std::vector<std::size_t> missing;
  for (const double tau : taus) {
    for (const double eta : options.etas) {
      const auto same = [&](const Cell& c) { return c.eta == eta && c.tau == tau; };
      const auto known = std::find_if(options.known.begin(), options.known.end(), same);
      if (known == options.known.end()) missing.push_back(cells.size());
      cells.push_back(known == options.known.end() ? Cell{eta, tau, 0, 0, 0, 0} : *known);
    }
  }
  std::mutex mutex;
  struct Nothing {};
  parallel<Nothing>(static_cast<Index>(missing.size()), options.runs.threads, options.runs.progress,
                    [&](Index k, Nothing&) {
                      Cell& cell = cells[missing[static_cast<std::size_t>(k)]];
                      cell = measure(problem, contender, cell, options.runs);
                      const std::scoped_lock lock(mutex);
                      if (options.finished) options.finished(cell);
                    });
  return cells;
}

const Cell& best(const std::vector<Cell>& cells) {
  return *std::min_element(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return std::tuple(-a.separated, a.mse) < std::tuple(-b.separated, b.mse);
  });
}

}  // namespace demix
