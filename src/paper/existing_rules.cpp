#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "demix/experiment_figures.hpp"
#include "demix/methods.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// The rules that section 5.3 sets the network against, each where it should work and where it should not.
namespace demix::paper {
namespace {

// On and off, on with another probability each: skewed, as BCM wants it, and of kurtoses 8.1, 4.8, 2.3, 1.4.
Matrix<double> skewed_sources(Index frames, Random& random) {
  const std::vector<double> on{0.1, 0.15, 0.25, 0.35};
  Matrix<double> S(4, frames);
  for (Index t = 0; t < frames; ++t) {
    for (Index i = 0; i < 4; ++i) {
      const double p = on[static_cast<std::size_t>(i)];
      S(i, t) = ((random.uniform() < p ? 1 : 0) - p) / std::sqrt(p * (1 - p));
    }
  }
  return S;
}

// How many different sources the outputs respond to most, each by at least .8 of its power.
Index sources_found(const Matrix<double>& gain) {
  std::set<Index> found;
  for (Index i = 0; i < gain.rows(); ++i) {
    Index k = 0;
    const double most = gain.row(i).cwiseAbs2().maxCoeff(&k);
    if (most > 0.8 * gain.row(i).squaredNorm() && most > 1e-4) found.insert(k);
  }
  return static_cast<Index>(found.size());
}

std::vector<Index> found_by(const char* name, Index draws, Index frames, int threads) {
  return all_of(draws, threads, {}, [&](Index k) {
    Random random(static_cast<std::uint64_t>(k));
    const Matrix<double> A = normal_mixing(4, random);
    const Mixture m = mix(skewed_sources(frames, random), A, true);
    MethodOptions options;
    options.seed = static_cast<std::uint64_t>(k);
    const auto separator = method_named(name).start(4, 4, options);
    Vector<double> x(4);
    Vector<double> y(4);
    for (Index t = 0; t < frames; ++t) {
      x = m.mixtures.col(t);
      if (!separator->step(x, y)) return Index{0};
    }
    separator->finish();
    return sources_found(separator->unmixing() * m.mixing);
  });
}

std::vector<double> shares(const std::vector<Index>& found) {  // share of the draws with 0 ... 4
  std::vector<double> share(5, 0.0);
  for (const Index n : found) share[static_cast<std::size_t>(n)] += 1. / static_cast<double>(found.size());
  return share;
}

Problem one_density(const char* name, Source source) {
  Problem p;
  p.name = name;
  p.sources = {source, source, source};
  p.white = true;
  return p;
}

}  // namespace

Result existing_rules(const Setting& setting) {
  Result out;
  // BCM: nothing keeps its neurons from finding the same source.
  const Index draws = setting.quick ? 20 : 100;
  const Index frames = setting.quick ? 20000 : 100000;
  CompareOptions options;
  options.samples = setting.quick ? 20000 : 100000;
  options.seeds = setting.quick ? 4 : 20;
  options.threads = setting.threads;
  out.length = length_of(
      setting, fmt::format("{} frames, {} draws for BCM, {} for the others", frames, draws, options.seeds));
  report::CurvesFigure redundancy;
  report::CurvesFigure::Panel panel{
      "four skewed sources, four neurons", "different sources found", "share of draws", false, false, {}, {}};
  Table bcm{"redundancy", {"rule", "different sources found, mean of 4", "draws in which all are"}, {}};
  std::vector<double> means;
  for (const auto& [name, label] : {std::pair{"bcm", "BCM"}, std::pair{"sm-ica", "SM-ICA, natural steps"}}) {
    const std::vector<Index> found = found_by(name, draws, frames, setting.threads);
    double mean = 0;
    for (const Index n : found) mean += static_cast<double>(n) / static_cast<double>(draws);
    const auto whole = std::ranges::count(found, Index{4});
    means.push_back(mean);
    panel.curves.push_back({label, {0, 1, 2, 3, 4}, shares(found), {}, {}, false});
    bcm.rows.push_back({label, fmt::format("{:.2f}", mean), fmt::format("{} of {}", whole, draws)});
    out.numbers.push_back({std::string(name) + ".found", mean});
  }
  redundancy.panels = {panel};
  draw(redundancy, setting, out.length, "bcm-redundancy");
  out.pictures.push_back(
      {"bcm-redundancy", fmt::format("How many different sources four neurons have found after {} frames, by "
                                     "the share of {} draws.",
                                     frames, draws)});

  // EGHR, Herault and Jutten's, nonlinear Oja: one density or several, white or not.
  std::vector<Problem> problems{one_density("Three Laplace, white", Source::laplace),
                                one_density("Three uniform, white", Source::uniform), scenario_problem(3),
                                scenario_problem(4)};
  problems[2].name = "Square, sine, Laplace, white";
  problems[3].name = "Square, sine, Laplace, coloured";
  std::vector<Contender> contenders;
  for (const char* name : {"sm-ica", "sm-ica:local", "eghr:laplace", "eghr:uniform", "hj", "nonlinear-oja"}) {
    contenders.push_back(contender_named(name));
  }
  Table table{"existing-rules", {"rule"}, {}};
  for (const Contender& c : contenders) table.rows.push_back({c.label});
  for (std::size_t p = 0; p < problems.size(); ++p) {
    options.progress = part_of(setting.progress, static_cast<double>(p) / 4, static_cast<double>(p + 1) / 4);
    const Comparison comparison = compare(problems[p], contenders, options);
    report::ConvergenceFigure figure;
    figure.title = problems[p].name;
    figure.threshold = separated_mse;
    figure.panels = {convergence_panel("", comparison, contenders)};
    const std::string name = fmt::format("existing-rules-{}", p + 1);
    draw(figure, setting, out.length, name);
    out.pictures.push_back({name, fmt::format("{}: error over frames, median and quartiles of {} draws.",
                                              problems[p].name, options.seeds)});
    table.columns.push_back(problems[p].name);
    for (std::size_t c = 0; c < contenders.size(); ++c) {
      const Summary s = summarise(comparison, static_cast<Index>(c));
      table.rows[c].push_back(fmt::format("{} of {}, {}", s.separated, s.runs, scientific(s.median.back())));
      out.numbers.push_back({fmt::format("problem{}.{}", p + 1, contenders[c].label),
                             static_cast<double>(s.separated) / static_cast<double>(s.runs)});
    }
  }
  out.tables = {bcm, table};
  const auto separated = [&](std::size_t problem, const std::string& rule) {
    const std::string name = fmt::format("problem{}.{}", problem, rule);
    return std::lround(std::ranges::find(out.numbers, name, &Number::name)->value *
                       static_cast<double>(options.seeds));
  };
  out.measured = fmt::format(
      "Four BCM neurons find {:.1f} different sources of four, the network {:.1f}. EGHR separates {} of {} "
      "mixtures of sources of the density it knows and {} of different ones, where the network separates {}; "
      "of equal densities, hence equal kurtosis, the network separates {}. Nonlinear Oja separates {} of the "
      "white and {} of the coloured mixtures, Herault and Jutten's rule {} and {}.",
      means[0], means[1], separated(1, "eghr:laplace"), options.seeds, separated(3, "eghr:laplace"),
      separated(3, "sm-ica"), separated(1, "sm-ica"), separated(3, "nonlinear-oja"),
      separated(4, "nonlinear-oja"), separated(3, "hj"), separated(4, "hj"));
  return out;
}

}  // namespace demix::paper
