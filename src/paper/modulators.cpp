#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "demix/compare.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/natural_network.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Modulators other than the total activity, w(||y||^2): what the paper's discussion says they could do. For
/// sources of equal kurtosis but other even moments, and against outliers; in batch, offline and in both
/// networks.
namespace demix::paper {
namespace {

using Curve = report::CurvesFigure::Curve;
using Panel = report::CurvesFigure::Panel;

// Uniform, and 0 or +-sqrt 1.8: both of variance 1 and kurtosis 1.8.
Matrix<double> equal_kurtosis_sources(Index samples, Random& random) {
  Matrix<double> S(2, samples);
  for (Index t = 0; t < samples; ++t) {
    S(0, t) = random.uniform(-std::sqrt(3.), std::sqrt(3.));
    const double u = random.uniform();
    S(1, t) = u < 1 / 3.6 ? std::sqrt(1.8) : u < 2 / 3.6 ? -std::sqrt(1.8) : 0;
  }
  return S;
}

// lambda_i^2 about what the fixed point of Gaussian sources has: no kurtosis known.
Vector<double> spread_lambda2(Weight weight, Index d) {
  return gaussian_weight(weight, d) * Vector<double>::LinSpaced(d, 0.3, 1.7);
}

Matrix<double> by_fobi(const Matrix<double>& X, Weight weight) {
  FobiOptions o;
  o.weight = weight;
  return fobi(X, o).unmixing;
}

Matrix<double> offline_natural(const Matrix<double>& X, Weight weight) {
  SmIcaOfflineOptions o;
  o.weight = weight;
  return sm_ica_offline(X, o).model.unmixing;
}

// As published but for w: a pass over the data for each step, so of few frames. 0: it diverged.
Matrix<double> offline_published(const Matrix<double>& X, Weight weight, Index steps) {
  SmIcaOfflineOptions o;
  o.steps = SmIcaOfflineOptions::Steps::published;
  o.weight = weight;
  o.lambda2 = spread_lambda2(weight, X.rows());
  o.eta = 0.02;
  o.tau = 0.3;
  o.max_iterations = steps;
  const SmIcaOffline run = sm_ica_offline(X, o);
  return run.status == OfflineStatus::diverged ? Matrix<double>::Zero(X.rows(), X.rows())
                                               : run.model.unmixing;
}

Matrix<double> online_natural(const Matrix<double>& X, Weight weight, std::uint64_t seed) {
  NaturalNetworkOptions o;
  o.weight = weight;
  o.seed = seed;
  NaturalNetwork<double> network(X.rows(), o);
  Matrix<double> Y(X.rows(), X.cols());
  network.process(Frames<double>(X), Y);
  network.refresh();
  return network.unmixing();
}

Matrix<double> online_published(const Matrix<double>& X, Weight weight, std::uint64_t seed) {
  SmIcaNetworkOptions o;
  o.weight = weight;
  o.lambda2 = spread_lambda2(weight, X.rows());
  o.eta = 1e-3;
  o.tau = 0.3;
  o.seed = seed;
  SmIcaNetwork<double> network(X.rows(), X.rows(), o);
  Matrix<double> Y(X.rows(), X.cols());
  if (network.process(Frames<double>(X), Y) != NetworkStatus::ok)
    return Matrix<double>::Zero(X.rows(), X.rows());
  return network.unmixing();
}

}  // namespace

Result even_moments(const Setting& setting) {
  const Index draws = setting.quick ? 4 : 20;
  const Index samples = setting.quick ? 30000 : 100000;
  const Index steps = setting.quick ? 1000 : 6000;
  const Index few = 5000;  // frames for the published steps offline
  const std::vector<Weight> weights{Weight::square, Weight::norm, Weight::log, Weight::reciprocal,
                                    Weight::fourth};
  const std::vector<std::string> algorithms{"FOBI", "offline, natural steps",
                                            fmt::format("offline, as published (0.02, 0.3), {} frames", few),
                                            "network, natural steps", "network, as published (1e-3, 0.3)"};
  const std::vector<std::string> names{"fobi", "offline", "offline_published", "network",
                                       "network_published"};
  Table table{"even-moments", {"algorithm"}, {}};
  for (const Weight w : weights) table.columns.push_back("w = " + std::string(weight_name(w)));
  Result out;
  out.length =
      length_of(setting, fmt::format("{} draws of {} frames, {} steps offline", draws, samples, steps));
  report::CurvesFigure figure;
  Panel batch{"batch", "draw, by its error", "MSE", false, true, {}, {{separated_mse, "separated", false}}};
  Panel network{"network with natural steps",         "draw, by its error", "MSE", false, true, {},
                {{separated_mse, "separated", false}}};
  const auto all = static_cast<double>(algorithms.size() * weights.size());
  double done = 0;
  double of_square = 0;
  double of_reciprocal = 0;
  for (std::size_t a = 0; a < algorithms.size(); ++a) {
    std::vector<std::string> row{algorithms[a]};
    for (const Weight weight : weights) {
      auto errors = all_of(
          draws, setting.threads, part_of(setting.progress, done / all, (done + 1) / all), [&](Index k) {
            const auto seed = static_cast<std::uint64_t>(k);
            Random random(1800 + seed);
            const bool published = a == 2 || a == 4;  // which need white data for speed, no more
            const Matrix<double> A = normal_mixing(2, random);
            const Mixture m = mix(equal_kurtosis_sources(a == 2 ? few : samples, random), A, published);
            const Matrix<double>& X = m.mixtures;
            const Matrix<double> B = a == 0   ? by_fobi(X, weight)
                                     : a == 1 ? offline_natural(X, weight)
                                     : a == 2 ? offline_published(X, weight, steps)
                                     : a == 3 ? online_natural(X, weight, seed)
                                              : online_published(X, weight, seed);
            return B.isZero(0) ? std::numeric_limits<double>::infinity() : mse_of_gain(B * m.mixing);
          });
      ++done;
      const double median = ranked(errors, 0.5);
      row.push_back(number(median));
      out.numbers.push_back({fmt::format("{}.{}", names[a], weight_name(weight)), median});
      if (a == 0 && weight == Weight::square) of_square = median;
      if (a == 0 && weight == Weight::reciprocal) of_reciprocal = median;
      if (a != 0 && a != 3) continue;
      std::sort(errors.begin(), errors.end());
      Curve curve{"w = " + std::string(weight_name(weight)), {}, errors, {}, {}, false};
      for (Index k = 1; k <= draws; ++k) curve.x.push_back(static_cast<double>(k));
      (a == 0 ? batch : network).curves.push_back(curve);
    }
    table.rows.push_back(row);
  }
  figure.panels = {batch, network};
  draw(figure, setting, out.length, "even-moments");
  out.tables = {table};
  out.pictures = {
      {"even-moments",
       fmt::format(
           "A uniform source and one of three levels, both of kurtosis 1.8: errors of {} draws of {} "
           "samples, the smallest first, for modulators w(a) = a, its square root, log(1 + a), 1/(1 + a) and "
           "a^2.",
           draws, samples)}};
  const auto of = [&](const char* name) {
    for (const Number& n : out.numbers) {
      if (n.name == name) return n.value;
    }
    return 0.0;
  };
  out.measured = fmt::format(
      "In batch the square leaves an error of {}, the reciprocal {}; the network with natural steps, {} and "
      "{}. The synapses "
      "hear as many numbers as before.",
      number(of_square), number(of_reciprocal), number(of("network.square")),
      number(of("network.reciprocal")));
  return out;
}

Result outliers(const Setting& setting) {
  const Index draws = setting.quick ? 5 : 40;
  const Index samples = setting.quick ? 20000 : 100000;
  const std::vector<double> shares{0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
  const std::vector<Weight> weights{Weight::square, Weight::norm, Weight::log, Weight::reciprocal};
  Result out;
  out.length = length_of(setting, fmt::format("{} draws of {} frames", draws, samples));
  report::CurvesFigure figure;
  const auto all = static_cast<double>(3 * weights.size() * shares.size());
  double done = 0;
  const std::vector<std::string> algorithms{"FOBI", "offline SM-ICA, natural steps",
                                            "network, natural steps"};
  const std::vector<std::string> prefixes{"", "offline.", "network."};
  for (std::size_t a = 0; a < algorithms.size(); ++a) {
    Panel panel{algorithms[a],
                "share of bursts (leftmost: none)",
                "median MSE",
                true,
                true,
                {},
                {{0.05, "separated", false}}};
    for (const Weight weight : weights) {
      Curve curve{"w = " + std::string(weight_name(weight)), {}, {}, {}, {}, false};
      for (const double share : shares) {
        const auto progress = part_of(setting.progress, done / all, (done + 1) / all);
        const auto error = all_of(draws, setting.threads, progress, [&](Index k) {
          const auto seed = static_cast<std::uint64_t>(k);
          Random random(1500 + seed);
          const Matrix<double> A = normal_mixing(3, random);
          const Mixture m = mix(make_sources(scenario_sources(4), samples, Timing::iid, random), A);
          Matrix<double> X = m.mixtures;
          for (Index t = 0; t < samples; ++t) {  // everything at once ten times as strong
            if (random.uniform() < share) X.col(t) *= 10;
          }
          const Matrix<double> B = a == 0   ? by_fobi(X, weight)
                                   : a == 1 ? offline_natural(X, weight)
                                            : online_natural(X, weight, seed);
          return mse(m.sources, standardized(B * m.mixtures));
        });
        ++done;
        curve.x.push_back(share > 0 ? share : shares[1] / 3);
        curve.y.push_back(ranked(error, 0.5));
      }
      out.numbers.push_back({prefixes[a] + std::string(weight_name(weight)) + ".clean", curve.y.front()});
      out.numbers.push_back({prefixes[a] + std::string(weight_name(weight)) + ".at_1e-3", curve.y[3]});
      panel.curves.push_back(curve);
    }
    figure.panels.push_back(panel);
  }
  draw(figure, setting, out.length, "outliers");
  out.pictures = {
      {"outliers",
       fmt::format(
           "Weights and modulators that grow more slowly, on square, sine and Laplace with bursts, frames "
           "ten times as strong; median error over {} draws, on the clean part.",
           draws)}};
  const auto told = [&](std::size_t a, std::size_t w) {
    const std::vector<double>& y = figure.panels[a].curves[w].y;
    return fmt::format("from {} to {}", number(y.front()), number(y[3]));
  };
  out.measured = fmt::format(
      "With one burst in a thousand frames the paper's weight |h|^2 goes {} in batch and {} in the network "
      "with natural steps; "
      "w = log(1 + a) {} and {}, w = 1/(1 + a) {} and {}.",
      told(0, 0), told(2, 0), told(0, 2), told(2, 2), told(0, 3), told(2, 3));
  return out;
}

}  // namespace demix::paper
