#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/natural_network.hpp"
#include "demix/report.hpp"
#include "demix/trace_files.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// The network at work (section 5.1): how long its dynamics take to settle, and what it is like while it
/// learns.
///
///   y <- y + gamma (c - M y)                  with autapses: M_ii is a synapse of neuron i onto itself
///   y <- y + gamma (D^-1 (c - (M - D) y) - y) without: D = diag(M) holds the leaks of the neurons
///
/// both with the largest step that always converges, gamma = 1/max row sum. Steps until ||c - M y|| <= 1e-3
/// ||c||.
namespace demix::paper {
namespace {

using Curve = report::CurvesFigure::Curve;
using Panel = report::CurvesFigure::Panel;

const std::string with_autapses = "autapses";
const std::string with_leaks = "leaks instead";

SmIcaNetworkOptions iterated(SmIcaNetworkOptions options, bool autapses) {
  options.dynamics = SmIcaNetworkOptions::Dynamics::iterate;
  options.autapses = autapses;
  options.tolerance = 1e-3;
  options.max_iterations = 1000000;
  return options;
}

// Medians of the steps to M y = c, for the frames X and c = W x; nothing is learned.
double steps_at(const Matrix<double>& W, const Matrix<double>& M, const Matrix<double>& X, bool autapses) {
  SmIcaNetworkOptions options;
  options.eta = 1e-300;
  SmIcaNetwork<double> network(W.cols(), W.rows(), iterated(options, autapses));
  network.set_weights(W, M);
  std::vector<double> steps;
  Vector<double> y(W.rows());
  for (Index t = 0; t < X.cols(); ++t) {
    network.step(X.col(t), y);
    steps.push_back(network.iterations());
  }
  return ranked(steps, 0.5);
}

Curve empty_curve(bool autapses) { return {autapses ? with_autapses : with_leaks, {}, {}, {}, {}, false}; }

// While the published network learns: median and quartiles over stretches of frames.
Panel while_learning(Index frames, Result& out) {
  Panel panel{"while it learns", "frame", "steps to settle", true, true, {}, {}};
  const Mixture m = make_scenario(1, frames, 3);
  for (const bool autapses : {true, false}) {
    SmIcaNetwork<double> network(3, 3, iterated(published_options(5e-4, 0.75, {1.0, 1.5, 1.8}, 3), autapses));
    Curve curve = empty_curve(autapses);
    Vector<double> y(3);
    std::vector<double> steps;
    Index next = 10;
    for (Index t = 0; t < frames; ++t) {
      network.step(m.mixtures.col(t), y);
      steps.push_back(network.iterations());
      if (t + 1 < next && t + 1 < frames) continue;
      curve.x.push_back(static_cast<double>(t + 1));
      curve.y.push_back(ranked(steps, 0.5));
      curve.low.push_back(ranked(steps, 0.25));
      curve.high.push_back(ranked(steps, 0.75));
      steps.clear();
      next = next * 8 / 5;
    }
    out.numbers.push_back({autapses ? "learning.autapses" : "learning.leaks", curve.y.back()});
    panel.curves.push_back(curve);
  }
  return panel;
}

// At rest: M is near diag(lambda^2/(kurtosis + d - 1)), so its condition is about the spread of lambda^2.
Panel at_rest(Index frames, Result& out) {
  Panel panel{"at rest", "largest over smallest λ²", "steps to settle", true, true, {}, {}};
  panel.curves = {empty_curve(true), empty_curve(false)};
  Random random(4);
  const Mixture m =
      mix(make_sources(four_sources, frames, Timing::iid, random), Matrix<double>::Identity(4, 4), true);
  for (const double spread : {2., 5., 10., 20., 50., 100., 200., 500., 1000.}) {
    NaturalNetworkOptions o;
    o.lambda2 = Vector<double>::NullaryExpr(
        4, [&](Index i) { return 6 * std::pow(spread, static_cast<double>(i) / 3 - 0.5); });
    NaturalNetwork<double> network(4, o);
    Matrix<double> Y(4, frames);
    network.process(Frames<double>(m.mixtures), Y);
    const Matrix<double> W = network.feedforward() * network.whitener();
    for (const bool autapses : {true, false}) {
      const double steps = steps_at(W, network.lateral(), m.mixtures.leftCols(200), autapses);
      Curve& curve = panel.curves[autapses ? 0 : 1];
      curve.x.push_back(spread);
      curve.y.push_back(steps);
      if (spread == 100) out.numbers.push_back({autapses ? "rest.autapses" : "rest.leaks", steps});
    }
  }
  return panel;
}

// The input layer of the local form, dq/ds = x - S q: S is the covariance of the inputs.
Panel of_inputs(Index draws, Result& out) {
  Panel panel{"input layer, local form", "condition of the mixing", "steps to settle", true, true, {}, {}};
  panel.curves = {empty_curve(true), empty_curve(false)};
  for (const double condition : {1., 2., 4., 8., 16., 32.}) {
    std::vector<double> with;
    std::vector<double> without;
    for (Index k = 0; k < draws; ++k) {
      Random random(static_cast<std::uint64_t>(k));
      const Matrix<double> A = conditioned_mixing(4, condition, random);
      const Matrix<double> X = A * make_sources(four_sources, 50, Timing::iid, random);
      const Matrix<double> S = A * A.transpose();
      with.push_back(steps_at(Matrix<double>::Identity(4, 4), S, X, true));
      without.push_back(steps_at(Matrix<double>::Identity(4, 4), S, X, false));
    }
    for (const bool autapses : {true, false}) {
      Curve& curve = panel.curves[autapses ? 0 : 1];
      curve.x.push_back(condition);
      curve.y.push_back(ranked(autapses ? with : without, 0.5));
      if (condition == 8)
        out.numbers.push_back({autapses ? "input.autapses" : "input.leaks", curve.y.back()});
    }
  }
  return panel;
}

}  // namespace

Result settling(const Setting& setting) {
  Result out;
  report::CurvesFigure figure;
  const Index learning = setting.quick ? 10000 : 100000;
  const Index rest = setting.quick ? 5000 : 50000;
  const Index mixings = setting.quick ? 5 : 40;
  figure.panels = {while_learning(learning, out), at_rest(rest, out), of_inputs(mixings, out)};
  out.length = length_of(setting, fmt::format("{} frames, {} at rest, {} mixings", learning, rest, mixings));
  draw(figure, setting, out.length, "settling");
  out.pictures = {
      {"settling",
       "Steps that the neural dynamics take to come within 1e-3 of their rest, with M's diagonal as "
       "autapses or as the neurons' leaks. First: the network as published while it learns scenario 1 "
       "at (5e-4, 0.75), median and quartiles. Second: networks at rest, by the spread of lambda^2. "
       "Third: the input layer of the local form, by the condition of the mixing."}};
  const auto value = [&](const std::string& name) {
    return std::ranges::find(out.numbers, name, &Number::name)->value;
  };
  out.measured = fmt::format(
      "At rest with lambda^2 spread over a factor of 100, {:.0f} steps with autapses and {:.0f} without; the "
      "published network in scenario 1 {:.0f} and {:.0f}. The input layer of the local form, at a mixing of "
      "condition 8, {:.0f} and {:.0f}.",
      value("rest.autapses"), value("rest.leaks"), value("learning.autapses"), value("learning.leaks"),
      value("input.autapses"), value("input.leaks"));
  out.differs =
      "The paper says that autapses can be left out; it does not say that they should be: at rest M is "
      "diagonal, and with its diagonal as leaks there is little left to settle, whatever lambda is.";
  return out;
}

Result traces(const Setting& setting) {
  const Index frames = setting.quick ? 10000 : 100000;
  const Mixture m = make_scenario(1, frames, 3);
  NaturalNetwork<double> natural(3);
  SmIcaNetwork<double> published(3, 3, published_options(5e-4, 0.75, {1.0, 1.5, 1.8}, 3));
  NetworkTrace of_natural;
  NetworkTrace of_published;
  Vector<double> y(3);
  for (Index t = 0; t < frames; ++t) {
    published.step(m.mixtures.col(t), y);
    published.note(of_published);
    natural.step(m.mixtures.col(t), y);
    natural.note(of_natural);
  }
  Result out;
  out.length = length_of(setting, fmt::format("{} frames", frames));
  struct Traced {
    std::string key, title;
    const NetworkTrace& trace;
    double ltp = 0, modulator = 0;
  };
  std::vector<Traced> all{{"published", "As published", of_published},
                          {"natural", "Natural steps", of_natural}};
  for (Traced& t : all) {
    const std::string name = "trace-" + t.key;
    draw(trace_figure(t.trace, t.title), setting, out.length, name);
    out.pictures.push_back(
        {name,
         fmt::format("{}, scenario 1: weights, activities, modulator and share of LTP, every {} frames. In "
                     "each colour the weights onto one output.",
                     t.title, t.trace.stride())});
    const auto rows = t.trace.rows();
    const std::size_t half = rows.size() / 2;
    for (std::size_t k = half; k < rows.size(); ++k) {
      t.ltp += rows[k].ltp / static_cast<double>(rows.size() - half);
      t.modulator += rows[k].moment.modulator / static_cast<double>(rows.size() - half);
    }
    out.numbers.push_back({t.key + ".ltp", t.ltp});
    out.numbers.push_back({t.key + ".modulator", t.modulator});
  }
  out.measured = fmt::format(
      "In the second half of the run {:.0f} % of the outputs' synapses are potentiated by a frame in the "
      "network as published, {:.0f} % with natural steps; the modulator, ||y||^2, is {:.2f} and {:.2f} in "
      "the mean, where three outputs of power 1 have 3.",
      100 * all[0].ltp, 100 * all[1].ltp, all[0].modulator, all[1].modulator);
  return out;
}

}  // namespace demix::paper
