#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "demix/experiment_figures.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/natural_network.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Why the published settings fail, and which of the readings of Lambda they are for.
namespace demix::paper {
namespace {

using Curve = report::CurvesFigure::Curve;
using Panel = report::CurvesFigure::Panel;

std::string scenario_label(int scenario) {
  return scenario == 1 ? "sub-Gaussian (scenario 1)" : "with Laplace (scenario 3)";
}

// One frame of large activity, and the step overshoots.
Panel overshoot(const Setting& setting, Index mixings, Index samples, const ProgressCallback& progress) {
  const std::vector<double> etas{1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  const auto all = 2 * static_cast<double>(etas.size());
  double done = 0;
  Panel panel{"overshoot", "η", "share of runs that diverge", true, false, {}, {{5e-3, "published", true}}};
  for (const int scenario : {1, 3}) {
    Curve curve{scenario_label(scenario), etas, {}, {}, {}, false};
    for (const double eta : etas) {
      const auto now = part_of(progress, done / all, (done + 1) / all);
      const auto runs = all_of(mixings, setting.threads, now, [&](Index k) {
        const auto seed = static_cast<std::uint64_t>(k);
        const std::vector<double> lambda{1.0, 1.5, scenario == 1 ? 1.8 : 6.07};
        return published_online(make_scenario(scenario, samples, 700 + seed),
                                published_options(eta, 0.75, lambda, seed), 1);
      });
      ++done;
      curve.y.push_back(static_cast<double>(count_diverged(runs)) / static_cast<double>(mixings));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

// In whitened coordinates the gradient is multiplied by C_x.
Panel conditioning(const Setting& setting, Index mixings, Index samples, const ProgressCallback& progress) {
  const std::vector<double> conditions{1, 2, 4, 8, 16, 32};
  const auto all = 2 * static_cast<double>(conditions.size());
  double done = 0;
  Curve published{"as published", conditions, {}, {}, {}, false};
  Curve natural{"natural steps", conditions, {}, {}, {}, false};
  for (const double condition : conditions) {
    const auto drawn = [&](Index k) {
      Random random(800 + static_cast<std::uint64_t>(k));
      const Matrix<double> A = conditioned_mixing(3, condition, random);
      return mix(make_sources(scenario_sources(2), samples, Timing::iid, random), A);
    };
    const auto median = [&](const auto& run) {
      const auto runs =
          all_of(mixings, setting.threads, part_of(progress, done / all, (done + 1) / all), run);
      ++done;
      return median_mse(runs);
    };
    published.y.push_back(median([&](Index k) {
      const auto seed = static_cast<std::uint64_t>(k);
      return published_online(drawn(k), published_options(5e-4, 0.85, {1.0, 1.5, 1.8}, seed), 1);
    }));
    natural.y.push_back(
        median([&](Index k) { return natural_online(drawn(k), 1, static_cast<std::uint64_t>(k)); }));
  }
  for (Curve* curve : {&published, &natural}) curve->y = finite_or_gap(curve->y);
  return {"conditioning",       "condition of the mixing",   "median MSE", true, true,
          {published, natural}, {{0.05, "separated", false}}};
}

// M slower than W, and the pair runs in circles, offline and without any noise.
const std::vector<double> slow_taus{0.85, 0.3, 0.1};

Index slow_m_steps(const Setting& setting) { return setting.quick ? 2000 : 20000; }

Panel slow_m(const Setting& setting, const ProgressCallback& progress) {
  const Mixture m = make_scenario(4, 4000, 13);
  const Matrix<double> centred = m.mixtures.colwise() - m.mixtures.rowwise().mean();
  const Matrix<double> C = centred * centred.transpose() / static_cast<double>(centred.cols());
  const Index steps = slow_m_steps(setting);
  Panel panel{"slow M", "steps, offline", "‖C_y - I‖", false, true, {}, {}};
  for (const double tau : slow_taus) {
    SmIcaOfflineOptions o;
    o.steps = SmIcaOfflineOptions::Steps::published;
    o.eta = 2e-4;
    o.tau = tau;
    o.max_iterations = steps;
    o.seed = 12;
    Curve curve{fmt::format("τ = {:g}", tau), {}, {}, {}, {}, false};
    o.watch = [&](Index step, const Matrix<double>& W, const Matrix<double>& M) {
      if (step % (steps / 200) != 0) return;
      const Matrix<double> B = inverse(M) * W;
      const double error = (B * C * B.transpose() - Matrix<double>::Identity(3, 3)).norm();
      if (!std::isfinite(error)) return;
      curve.x.push_back(static_cast<double>(step));
      curve.y.push_back(std::max(error, 1e-12));
    };
    sm_ica_offline(m.mixtures, o);
    panel.curves.push_back(curve);
    if (progress) progress(static_cast<double>(panel.curves.size()) / static_cast<double>(slow_taus.size()));
  }
  return panel;
}

// With a constant eta the error stops falling.
const std::vector<double> constant_etas{2e-3, 1e-3, 5e-4};

Index floor_frames(const Setting& setting) { return setting.quick ? 30000 : 1000000; }

Panel noise_floor(const Setting& setting, const ProgressCallback& progress) {
  const Index samples = floor_frames(setting);
  const Index draws = setting.quick ? 2 : 6;
  std::vector<Index> at;
  for (double frame = 1000; frame < 1.01 * static_cast<double>(samples); frame *= std::pow(10, 0.25)) {
    at.push_back(std::lround(frame));
  }
  const auto kinds = static_cast<Index>(constant_etas.size()) + 1;
  const auto errors = all_of(kinds * draws, setting.threads, progress, [&](Index k) {
    const auto seed = static_cast<std::uint64_t>(k / kinds);
    const auto kind = static_cast<std::size_t>(k % kinds);
    const bool natural = kind == constant_etas.size();
    const Mixture m = make_scenario(1, samples, 600 + seed);
    SmIcaNetwork<double> published(
        3, 3, published_options(natural ? 1e-3 : constant_etas[kind], 0.75, {1.0, 1.5, 1.8}, seed));
    NaturalNetwork<double> network(3);
    Vector<double> y(3);
    std::vector<double> course;
    for (Index t = 0; course.size() < at.size(); ++t) {
      natural ? static_cast<void>(network.step(m.mixtures.col(t), y))
              : static_cast<void>(published.step(m.mixtures.col(t), y));
      if (t + 1 != at[course.size()]) continue;
      const double error = mse_of_gain((natural ? network.unmixing() : published.unmixing()) * m.mixing);
      course.push_back(std::isfinite(error) ? error : std::numeric_limits<double>::infinity());
    }
    return course;
  });
  Panel panel{"a constant η", "frames", "median MSE", true, true, {}, {}};
  for (Index kind = 0; kind < kinds; ++kind) {
    const auto which = static_cast<std::size_t>(kind);
    Curve curve{
        which == constant_etas.size() ? "natural steps" : fmt::format("η = {:g}", constant_etas[which]),
        {at.begin(), at.end()},
        {},
        {},
        {},
        false};
    for (std::size_t t = 0; t < at.size(); ++t) {
      std::vector<double> values;
      for (Index draw = 0; draw < draws; ++draw) {
        values.push_back(errors[static_cast<std::size_t>(draw * kinds + kind)][t]);
      }
      curve.y.push_back(ranked(values, 0.5));
    }
    curve.y = finite_or_gap(curve.y);
    panel.curves.push_back(curve);
  }
  return panel;
}

// Frames until M is no longer positive definite, 0 if it stays so. The step of W is an implicit one, so that
// overshoot cannot be the cause:
//   W_i <- W_i + 2 eta (y_i - a c_i / lambda_i^2) / (1 + 2 eta a ||x||^2 / lambda_i^2) x^T
//   M   <- M + (eta/tau)(y y^T - I)
Index definite_until(const Mixture& m, double eta, double tau, const Vector<double>& lambda2,
                     std::uint64_t seed) {
  const Index d = m.mixtures.rows();
  Matrix<double> W = Random(seed).normal(d, d);
  Matrix<double> M = Matrix<double>::Identity(d, d);
  Cholesky<double> factor(d);
  Vector<double> c(d);
  Vector<double> y(d);
  for (Index t = 0; t < m.mixtures.cols(); ++t) {
    const auto x = m.mixtures.col(t);
    if (!factor.compute(M)) return t;
    c = W * x;
    y = c;
    factor.solve_in_place(y);
    const double a = y.squaredNorm();
    for (Index i = 0; i < d; ++i) {
      const double step = 2 * eta / (1 + 2 * eta * a * x.squaredNorm() / lambda2(i));
      W.row(i) += step * (y(i) - a * c(i) / lambda2(i)) * x.transpose();
    }
    M += eta / tau * (y * y.transpose() - Matrix<double>::Identity(d, d));
  }
  return 0;
}

// M loses (eta/tau) I with every frame, and the neuron of the largest kurtosis rests at a small M_ii: a run
// of quiet frames takes it below 0, whatever W does.
Panel lost_definiteness(const Setting& setting, Index mixings, Index samples,
                        const ProgressCallback& progress) {
  const std::vector<double> etas{1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2};
  Panel panel{"M, W kept from overshoot", "η", "share of runs that lose M > 0", true, false, {},
              {{5e-3, "published", true}}};
  double done = 0;
  for (const int scenario : {1, 3}) {
    Curve curve{scenario_label(scenario), etas, {}, {}, {}, false};
    const Vector<double> lambda2 =
        lambda2_from_table({1.0, 1.5, scenario == 1 ? 1.8 : 6.07}, LambdaReading::inverse_square);
    for (const double eta : etas) {
      const auto all = 2 * static_cast<double>(etas.size());
      const auto until =
          all_of(mixings, setting.threads, part_of(progress, done / all, (done + 1) / all), [&](Index k) {
            const auto seed = static_cast<std::uint64_t>(k);
            return definite_until(make_scenario(scenario, samples, 700 + seed), eta, 0.75, lambda2, seed);
          });
      ++done;
      const auto lost = std::ranges::count_if(until, [](Index t) { return t > 0; });
      curve.y.push_back(static_cast<double>(lost) / static_cast<double>(mixings));
    }
    panel.curves.push_back(curve);
  }
  return panel;
}

// The median of its second half; -1 if there is none.
double late_median(const Curve& curve) {
  const auto half = static_cast<std::ptrdiff_t>(curve.y.size() / 2);
  return curve.y.empty() ? -1 : ranked({curve.y.begin() + half, curve.y.end()}, 0.5);
}

}  // namespace

Result lambda_readings(const Setting& setting) {
  const Index samples = setting.quick ? 50000 : 500000;
  const Index mixings = setting.quick ? 3 : 20;
  Table table{"lambda", {"values read as", "scenario", "separated", "diverged", "median MSE"}, {}};
  Result out;
  out.length = length_of(setting, fmt::format("{} mixings, {} frames each", mixings, samples));
  struct Reading {
    const char* text;
    const char* name;
    LambdaReading reading;
  };
  const std::vector<Reading> readings{
      {"lambda^-2, as the notebooks compute", "inverse_square", LambdaReading::inverse_square},
      {"lambda, as table 1 is headed", "direct", LambdaReading::direct},
      {"lambda^-1, as table 2 is headed", "inverse", LambdaReading::inverse}};
  const auto all = 2 * static_cast<double>(readings.size());
  double done = 0;
  for (const Reading& r : readings) {
    for (const int scenario : {2, 4}) {
      const auto progress = part_of(setting.progress, done / all, (done + 1) / all);
      const auto runs = all_of(mixings, setting.threads, progress, [&](Index k) {
        const auto seed = static_cast<std::uint64_t>(k);
        const Mixture m = make_scenario(scenario, samples, 500 + seed);
        SmIcaNetworkOptions o = published_options(5e-4, 0.85, {1, 2, 3}, seed);
        o.lambda2 = lambda2_from_table({1.0, 1.5, scenario == 2 ? 1.8 : 6.07}, r.reading);
        return published_online(m, o, 1);
      });
      ++done;
      table.rows.push_back({r.text, std::to_string(scenario),
                            fmt::format("{} of {}", count_separated(runs), mixings),
                            std::to_string(count_diverged(runs)), number(median_mse(runs))});
      out.numbers.push_back({fmt::format("{}.scenario{}.separated", r.name, scenario),
                             static_cast<double>(count_separated(runs))});
    }
  }
  out.tables = {table};
  out.measured = fmt::format(
      "Of {} coloured mixtures of scenario 2, {:.0f}, {:.0f} and {:.0f} separate under the three readings; "
      "of scenario 4, {:.0f}, {:.0f} and {:.0f}.",
      mixings, out.numbers[0].value, out.numbers[2].value, out.numbers[4].value, out.numbers[1].value,
      out.numbers[3].value, out.numbers[5].value);
  out.differs =
      "The tables name the same values Lambda and Lambda^-1; the authors' notebooks use them as Lambda^-2, "
      "which is what is taken everywhere else here.";
  return out;
}

Result why_it_fails(const Setting& setting) {
  const Index mixings = setting.quick ? 4 : 20;
  const Index samples = setting.quick ? 20000 : 100000;
  report::CurvesFigure figure;
  figure.panels = {overshoot(setting, mixings, samples, part_of(setting.progress, 0, 0.25)),
                   conditioning(setting, mixings, samples, part_of(setting.progress, 0.25, 0.5)),
                   slow_m(setting, part_of(setting.progress, 0.5, 0.6)),
                   noise_floor(setting, part_of(setting.progress, 0.6, 0.8)),
                   lost_definiteness(setting, mixings, samples, part_of(setting.progress, 0.8, 1))};
  Result out;
  out.length =
      length_of(setting, fmt::format("{} mixings, {} frames each; slow M {} steps, constant η {} frames",
                                     mixings, samples, slow_m_steps(setting), floor_frames(setting)));
  draw(figure, setting, out.length, "why");
  out.pictures = {
      {"why",
       "Five reasons. Overshoot: share of runs that diverge against eta, white data. Conditioning: error "
       "after one pass against the condition of the mixing. Slow M: how far the outputs are from white along "
       "an offline run; with a large tau the pair (W, M) never comes to rest. A constant eta: the error "
       "stops falling at a floor. M: share of runs in which M loses positive definiteness although eta < "
       "tau, with a step of W that cannot overshoot."}};
  for (std::size_t k = 0; k < slow_taus.size(); ++k) {
    out.numbers.push_back(
        {fmt::format("whiteness.tau_{:g}", slow_taus[k]), late_median(figure.panels[2].curves[k])});
  }
  const double diverged_1 = figure.panels[0].curves[0].y[5];
  const double diverged_3 = figure.panels[0].curves[1].y[5];
  const std::vector<double>& errors = figure.panels[1].curves[0].y;
  out.numbers.push_back({"overshoot.scenario1.at_5e-3", diverged_1});
  out.numbers.push_back({"overshoot.scenario3.at_5e-3", diverged_3});
  const double lost_1 = figure.panels[4].curves[0].y[5];
  const double lost_3 = figure.panels[4].curves[1].y[5];
  out.numbers.push_back({"definiteness.scenario1.at_5e-3", lost_1});
  out.numbers.push_back({"definiteness.scenario3.at_5e-3", lost_3});
  for (const Curve& curve : figure.panels[3].curves) {
    out.numbers.push_back(
        {"floor." + (curve.label == "natural steps" ? std::string("natural") : curve.label.substr(5)),
         curve.y.back()});
  }
  out.numbers.push_back({"condition_1.mse", errors[0]});
  out.numbers.push_back({"condition_16.mse", errors[4]});
  out.measured = fmt::format(
      "At the published eta = 5e-3, {:.0f} % of runs diverge with a Laplace source and {:.0f} % without; "
      "with a step of W that "
      "cannot overshoot, M loses positive definiteness in {:.0f} % and {:.0f} %. The "
      "error after one pass is {} at condition 1 and {} at 16.",
      100 * diverged_3, 100 * diverged_1, 100 * lost_3, 100 * lost_1, number(errors[0]), number(errors[4]));
  out.differs =
      "The paper reports no failure and gives no condition on eta, tau or the mixing but 0 < eta < tau, "
      "which does not keep M positive definite.";
  return out;
}

}  // namespace demix::paper
