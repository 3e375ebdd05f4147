#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/plasticity.hpp"
#include "demix/report.hpp"
#include "demix/rules/oja_subspace.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// What the paper says of the network itself: plasticity (section 5), subspace networks (appendix E), the
/// fixed point, the readings of Lambda, and why the published settings fail.
namespace demix::paper {
namespace {

std::vector<double> evenly(double from, double to, int count) {
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back(from + (to - from) * k / (count - 1));
  return out;
}

std::vector<double> doubles(const std::vector<Index>& values) { return {values.begin(), values.end()}; }

// ||P - P_true||_F^2 / (2 k): 0 = the same subspace, 1 = at right angles.
double subspace_error(const Matrix<double>& rows, Index k) {
  const Matrix<double> Q = qr(rows.transpose()).Q;
  const double shared = Q.topRows(k).squaredNorm();  // the true one is that of the first k axes
  return (static_cast<double>(k) - shared) / static_cast<double>(k);
}

}  // namespace

Result plasticity(const Setting& setting) {
  // A network at rest on white data: what moves its weights is the modulation alone.
  const Index d = 3;
  const Mixture m = make_scenario(1, 200000, 3);
  const SmIcaNetworkOptions options = published_options(1e-3, 0.75, {1.0, 1.5, 1.8}, 3);
  SmIcaNetwork<double> network(d, d, options);
  Matrix<double> Y(d, m.mixtures.cols());
  network.process(Frames<double>(m.mixtures), Y);
  const double rest = options.lambda2(0) / network.lateral()(0, 0);  // D_1 at the fixed point

  report::CurvesFigure figure;
  report::CurvesFigure::Panel ours{"SM-ICA", "total activity ‖y‖²", "change per yᵢ xⱼ", false, false, {}, {}};
  const std::vector<double> activity = evenly(0, 6, 61);
  Index agree = 0;
  Index agree_at_rest = 0;
  Index seen = 0;
  for (Index i = 0; i < d; ++i) {
    const double lambda2 = options.lambda2(i);
    report::CurvesFigure::Curve curve{fmt::format("1 - ‖y‖²/λ{}²", i + 1), activity, {}, {}, {}, false};
    for (const double a : activity) curve.y.push_back(hebbian_factor(a, lambda2));
    ours.curves.push_back(curve);
  }
  // What the synapses of output 1 really did: Delta W_1j / (2 eta y_1 x_j) = 1 - |y|^2 c_1 / (lambda_1^2
  // y_1).
  report::CurvesFigure::Curve real{"learned, output 1", {}, {}, {}, {}, true};
  Vector<double> y(d);
  for (Index t = 0; t < 2000; ++t) {
    const Matrix<double> before = network.feedforward();
    network.step(m.mixtures.col(t), y);
    const Vector<double> x = m.mixtures.col(t);
    if (std::abs(y(0)) < 0.1 || std::abs(x(0)) < 0.1) continue;
    const double factor = (network.feedforward()(0, 0) - before(0, 0)) / (2 * options.eta * y(0) * x(0));
    const double a = y.squaredNorm();
    ++seen;
    agree += (factor > 0) == (a < options.lambda2(0)) ? 1 : 0;
    agree_at_rest += (factor > 0) == (a < rest) ? 1 : 0;
    if (a <= 6 && std::abs(factor) <= 8 && t % 8 == 0) {
      real.x.push_back(a);
      real.y.push_back(factor);
    }
  }
  ours.curves.push_back(real);

  report::CurvesFigure::Panel bcm{"BCM", "postsynaptic activity y", "change per y xⱼ", false, false, {}, {}};
  const double theta = 1;
  report::CurvesFigure::Curve curve{"y - θ", evenly(0, 3, 31), {}, {}, {}, false};
  for (const double v : curve.x) curve.y.push_back(v - theta);
  bcm.curves = {curve};
  bcm.marks = {{theta, "θ", true}, {0, "", false}};
  ours.marks.push_back({0, "", false});
  ours.marks.push_back({options.lambda2(0), "λ1²", true});
  ours.marks.push_back({rest, "D1", true});
  figure.panels = {ours, bcm};
  report::draw(figure, setting.folder / "plasticity");

  const auto share = [&](Index n) { return static_cast<double>(n) / static_cast<double>(seen); };
  Result out;
  out.pictures = {{"plasticity",
                   "Left: what multiplies y_i x_j in a feedforward synapse, in the paper's approximation M = "
                   "I (lines) and in a "
                   "network at work (dots, output 1). Right: the same for BCM: there the neuron's own "
                   "activity decides, low "
                   "weakens and high strengthens; here the activity of all does, and the other way round."}};
  out.numbers = {
      {"sign_agrees", share(agree)}, {"sign_agrees_at_rest", share(agree_at_rest)}, {"threshold", rest}};
  out.measured = fmt::format(
      "Potentiation at low total activity and depression at high, as the paper says. In a network that has "
      "come to rest "
      "the sign changes at |y|^2 = {:.2f}, not at lambda_1^2 = {:.2f}: of {} updates {:.0f} % have the sign "
      "that the "
      "former predicts, {:.0f} % that of the latter.",
      rest, options.lambda2(0), seen, 100 * share(agree_at_rest), 100 * share(agree));
  out.differs =
      "The threshold is lambda_i^2 only where M is near I; at the fixed point M_ii = lambda_i^2 / D_i, which "
      "moves it to "
      "D_i = kurtosis + d - 1 of the neuron's own source.";
  return out;
}

Result appendix_e(const Setting& setting) {
  constexpr Index inputs = 10, outputs = 3;
  const Index samples = setting.quick ? 5000 : 50000;
  const Index seeds = setting.quick ? 3 : 20;
  Vector<double> deviation(inputs);
  for (Index i = 0; i < inputs; ++i) deviation(i) = i < outputs ? 1.5 - 0.2 * static_cast<double>(i) : 0.4;
  std::vector<Index> at;
  for (double t = 10; t < static_cast<double>(samples) * 1.01; t *= 1.5848932) at.push_back(std::lround(t));
  struct Courses {
    std::vector<double> oja, matching;
  };
  const auto courses = all_of(seeds, setting.threads, setting.progress, [&](Index k) {
    Courses c;
    RuleOptions options;
    options.form = "linear";
    options.eta = 5e-3;
    options.seed = static_cast<std::uint64_t>(k);
    rules::OjaSubspace oja(inputs, outputs, options);
    rules::PrincipalSubspace matching(inputs, outputs, options);
    Random random(options.seed + 77);
    Vector<double> y(outputs);
    Vector<double> x(inputs);
    std::size_t next = 0;
    for (Index t = 1; next < at.size(); ++t) {
      for (Index i = 0; i < inputs; ++i) x(i) = deviation(i) * random.normal();
      for (Rule* rule : {static_cast<Rule*>(&oja), static_cast<Rule*>(&matching)}) {
        rule->respond(x, y);
        rule->learn(x, y);
      }
      if (t < at[next]) continue;
      c.oja.push_back(subspace_error(oja.unmixing(), outputs));
      c.matching.push_back(subspace_error(matching.unmixing(), outputs));
      ++next;
    }
    return c;
  });
  const auto curve = [&](const std::string& label, std::vector<double> Courses::*which) {
    report::CurvesFigure::Curve out{label, doubles(at), {}, {}, {}, false};
    for (std::size_t k = 0; k < at.size(); ++k) {
      std::vector<double> values;
      for (const Courses& c : courses) values.push_back((c.*which)[k]);
      std::sort(values.begin(), values.end());
      out.low.push_back(values[values.size() / 4]);
      out.y.push_back(values[values.size() / 2]);
      out.high.push_back(values[3 * values.size() / 4]);
    }
    return out;
  };
  report::CurvesFigure figure;
  figure.panels = {
      {"",
       "frames",
       "subspace error",
       true,
       true,
       {curve("Oja's subspace rule", &Courses::oja), curve("similarity matching", &Courses::matching)},
       {}}};
  report::draw(figure, setting.folder / "appendix-e");
  Result out;
  const auto& curves = figure.panels[0].curves;
  out.pictures = {
      {"appendix-e",
       fmt::format("Share of the principal subspace (3 of 10 dimensions) that is missed, median and "
                   "quartiles over {} runs, eta = 5e-3.",
                   seeds)}};
  out.numbers = {{"oja", curves[0].y.back()}, {"similarity_matching", curves[1].y.back()}};
  out.measured = fmt::format(
      "Both find the principal subspace: error {} by Oja's rule, {} by similarity matching, whose "
      "synapses need nothing but their own two ends.",
      number(curves[0].y.back()), number(curves[1].y.back()));
  return out;
}

Result fixed_point(const Setting& setting) {
  // Lambda as table 1 heads it, white data: the paper expects M near I.
  const std::vector<double> lambda{1.0, 1.5, 1.8, 6.07};
  const std::vector<Source> which{Source::square, Source::sine, Source::sawtooth, Source::laplace};
  Random random(9);
  const Matrix<double> A = normal_mixing(4, random);
  const Mixture m = mix(make_sources(which, setting.quick ? 100000 : 1000000, Timing::iid, random), A, true);
  SmIcaOfflineOptions o;
  o.lambda2 = lambda2_from_table(lambda, LambdaReading::direct);
  const SmIcaOffline run = sm_ica_offline(m.mixtures, o);

  Table table{"fixed-point", {"output", "lambda", "source found", "M_ii", "lambda^2/(kurtosis + d - 1)"}, {}};
  Result out;
  double worst = 0;
  // The largest lambda takes the source of smallest kurtosis.
  const std::vector<Source> expected{Source::laplace, Source::sawtooth, Source::sine, Source::square};
  const Matrix<double> G = Cholesky(run.M).solve(run.W) * m.mixing;
  Index in_order = 0;
  for (Index i = 0; i < 4; ++i) {
    Index found = 0;
    G.row(i).cwiseAbs().maxCoeff(&found);
    const Source source = which[static_cast<std::size_t>(found)];
    const double predicted = o.lambda2(i) / (source_kurtosis(source) + 3);
    worst = std::max(worst, std::abs(run.M(i, i) / predicted - 1));
    in_order += source == expected[static_cast<std::size_t>(i)] ? 1 : 0;
    table.rows.push_back({std::to_string(i + 1), fmt::format("{:g}", lambda[static_cast<std::size_t>(i)]),
                          std::string(source_name(source)), fmt::format("{:.3f}", run.M(i, i)),
                          fmt::format("{:.3f}", predicted)});
    out.numbers.push_back({fmt::format("m_{}{}", i + 1, i + 1), run.M(i, i)});
  }
  out.numbers.push_back({"in_predicted_order", static_cast<double>(in_order)});
  out.numbers.push_back({"largest_deviation", worst});
  out.tables = {table};
  out.measured = fmt::format(
      "M comes to diag({:.3f}, {:.3f}, {:.3f}, {:.2f}), within {:.1f} % of lambda^2/(kurtosis + d - 1); "
      "the outputs come in the predicted order, {} of 4.",
      run.M(0, 0), run.M(1, 1), run.M(2, 2), run.M(3, 3), 100 * worst, in_order);
  out.differs =
      "M is not near I for the paper's own Lambda, and the order of the outputs is not arbitrary: the "
      "largest lambda "
      "takes the source of smallest kurtosis.";
  return out;
}

Result lambda_readings(const Setting& setting) {
  const Index samples = setting.quick ? 50000 : 500000;
  const Index mixings = setting.quick ? 3 : 20;
  Table table{"lambda", {"values read as", "scenario", "separated", "diverged", "median MSE"}, {}};
  Result out;
  struct Reading {
    const char* text;
    const char* name;
    LambdaReading reading;
  };
  for (const Reading& r :
       {Reading{"lambda^-2, as the notebooks compute", "inverse_square", LambdaReading::inverse_square},
        Reading{"lambda, as table 1 is headed", "direct", LambdaReading::direct},
        Reading{"lambda^-1, as table 2 is headed", "inverse", LambdaReading::inverse}}) {
    for (const int scenario : {2, 4}) {
      const auto runs = all_of(mixings, setting.threads, setting.progress, [&](Index k) {
        const auto seed = static_cast<std::uint64_t>(k);
        const Mixture m = make_scenario(scenario, samples, 500 + seed);
        SmIcaNetworkOptions o = published_options(5e-4, 0.85, {1, 2, 3}, seed);
        o.lambda2 = lambda2_from_table({1.0, 1.5, scenario == 2 ? 1.8 : 6.07}, r.reading);
        return published_online(m, o, 1);
      });
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
      "of "
      "scenario 4, {:.0f}, {:.0f} and {:.0f}.",
      mixings, out.numbers[0].value, out.numbers[2].value, out.numbers[4].value, out.numbers[1].value,
      out.numbers[3].value, out.numbers[5].value);
  out.differs =
      "The tables name the same values Lambda and Lambda^-1; the authors' notebooks use them as Lambda^-2, "
      "which is what "
      "is taken everywhere else here.";
  return out;
}

Result why_it_fails(const Setting& setting) {
  const Index mixings = setting.quick ? 4 : 20;
  const Index samples = setting.quick ? 20000 : 100000;
  Result out;
  report::CurvesFigure figure;

  // 1: one frame of large activity, and the step overshoots.
  report::CurvesFigure::Panel overshoot{"overshoot", "η", "share of runs that diverge", true, false, {}, {}};
  for (const int scenario : {1, 3}) {
    report::CurvesFigure::Curve curve{
        scenario == 1 ? "sub-Gaussian (scenario 1)" : "with Laplace (scenario 3)", {}, {}, {}, {}, false};
    for (const double eta : {1e-4, 2e-4, 5e-4, 1e-3, 2e-3, 5e-3, 1e-2}) {
      const auto runs = all_of(mixings, setting.threads, {}, [&](Index k) {
        const auto seed = static_cast<std::uint64_t>(k);
        const std::vector<double> lambda{1.0, 1.5, scenario == 1 ? 1.8 : 6.07};
        return published_online(make_scenario(scenario, samples, 700 + seed),
                                published_options(eta, 0.75, lambda, seed), 1);
      });
      curve.x.push_back(eta);
      curve.y.push_back(static_cast<double>(count_diverged(runs)) / static_cast<double>(mixings));
    }
    overshoot.curves.push_back(curve);
  }
  overshoot.marks = {{5e-3, "published", true}};
  if (setting.progress) setting.progress(0.4);

  // 2: in whitened coordinates the gradient is multiplied by C_x.
  report::CurvesFigure::Panel condition{
      "conditioning", "condition of the mixing", "median MSE", true, true, {}, {}};
  report::CurvesFigure::Curve network{"as published", {}, {}, {}, {}, false};
  report::CurvesFigure::Curve stream{"stream separator", {}, {}, {}, {}, false};
  for (const double cond : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0}) {
    const auto drawn = [&](Index k) {
      Random random(800 + static_cast<std::uint64_t>(k));
      const Matrix<double> A = conditioned_mixing(3, cond, random);
      return mix(make_sources(scenario_sources(2), samples, Timing::iid, random), A);
    };
    const auto theirs = all_of(mixings, setting.threads, {}, [&](Index k) {
      const auto seed = static_cast<std::uint64_t>(k);
      return published_online(drawn(k), published_options(5e-4, 0.85, {1.0, 1.5, 1.8}, seed), 1);
    });
    const auto ours = all_of(mixings, setting.threads, {}, [&](Index k) { return by_stream(drawn(k), 1); });
    network.x.push_back(cond);
    network.y.push_back(median_mse(theirs));
    stream.x.push_back(cond);
    stream.y.push_back(median_mse(ours));
  }
  for (report::CurvesFigure::Curve* curve : {&network, &stream}) {
    for (double& v : curve->y) v = std::isfinite(v) ? v : std::numeric_limits<double>::quiet_NaN();
    condition.curves.push_back(*curve);
  }
  condition.marks = {{0.05, "separated", false}};
  if (setting.progress) setting.progress(0.8);

  // 3: M slower than W, and the pair runs in circles, offline and without any noise.
  report::CurvesFigure::Panel cycle{"slow M", "steps, offline", "‖C_y - I‖", false, true, {}, {}};
  const Mixture m = make_scenario(4, 4000, 13);
  const Matrix<double> centred = m.mixtures.colwise() - m.mixtures.rowwise().mean();
  const Matrix<double> C = centred * centred.transpose() / static_cast<double>(centred.cols());
  const Index steps = setting.quick ? 2000 : 20000;
  for (const double tau : {0.85, 0.3, 0.1}) {
    SmIcaOfflineOptions o;
    o.steps = SmIcaOfflineOptions::Steps::published;
    o.eta = 2e-4;
    o.tau = tau;
    o.max_iterations = steps;
    o.seed = 12;
    report::CurvesFigure::Curve curve{fmt::format("τ = {:g}", tau), {}, {}, {}, {}, false};
    o.watch = [&](Index step, const Matrix<double>& W, const Matrix<double>& M) {
      if (step % (steps / 200) != 0) return;
      const Matrix<double> B = inverse(M) * W;
      const double error = (B * C * B.transpose() - Matrix<double>::Identity(3, 3)).norm();
      if (!std::isfinite(error)) return;
      curve.x.push_back(static_cast<double>(step));
      curve.y.push_back(std::max(error, 1e-12));
    };
    sm_ica_offline(m.mixtures, o);
    const auto half = static_cast<std::ptrdiff_t>(curve.y.size() / 2);
    out.numbers.push_back({fmt::format("whiteness.tau_{:g}", tau),
                           curve.y.empty() ? -1 : median({curve.y.begin() + half, curve.y.end()})});
    cycle.curves.push_back(curve);
  }
  figure.panels = {overshoot, condition, cycle};
  report::draw(figure, setting.folder / "why");
  out.pictures = {{"why",
                   "Three reasons. Left: share of runs that diverge against eta, white data. Middle: error "
                   "after one pass "
                   "against the condition of the mixing. Right: how far the outputs are from white along an "
                   "offline run: with a "
                   "large tau the pair (W, M) never comes to rest."}};
  out.numbers.push_back({"overshoot.scenario1.at_5e-3", overshoot.curves[0].y[5]});
  out.numbers.push_back({"overshoot.scenario3.at_5e-3", overshoot.curves[1].y[5]});
  out.numbers.push_back({"condition_1.mse", network.y.front()});
  out.numbers.push_back({"condition_16.mse", network.y[4]});
  out.measured = fmt::format(
      "At the published eta = 5e-3, {:.0f} % of runs diverge with a Laplace source and {:.0f} % without; the "
      "error "
      "after one pass is {} at condition 1 and {} at 16.",
      100 * overshoot.curves[1].y[5], 100 * overshoot.curves[0].y[5], number(network.y.front()),
      number(network.y[4]));
  out.differs = "The paper reports no failure and gives no condition on eta, tau or the mixing.";
  return out;
}

}  // namespace demix::paper
