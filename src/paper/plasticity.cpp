#include <fmt/format.h>

#include <cmath>

#include "demix/linear_algebra.hpp"
#include "demix/plasticity.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// The network at rest: which way its synapses change (section 5), and where it comes to rest.
namespace demix::paper {
namespace {

std::vector<double> evenly(double from, double to, int count) {
  std::vector<double> out;
  for (int k = 0; k < count; ++k) out.push_back(from + (to - from) * k / (count - 1));
  return out;
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
  // What the synapses of output 1 really did:
  // Delta W_1j / (2 eta y_1 x_j) = 1 - |y|^2 c_1 / (lambda_1^2 y_1).
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
  out.pictures = {
      {"plasticity",
       "Left: what multiplies y_i x_j in a feedforward synapse, in the paper's approximation M = I (lines) "
       "and in a network at work (dots, output 1). Right: the same for BCM: there the neuron's own activity "
       "decides, low weakens and high strengthens; here the activity of all does, and the other way round."}};
  out.numbers = {
      {"sign_agrees", share(agree)}, {"sign_agrees_at_rest", share(agree_at_rest)}, {"threshold", rest}};
  out.measured = fmt::format(
      "Potentiation at low total activity and depression at high, as the paper says. In a network that has "
      "come to rest the sign changes at |y|^2 = {:.2f}, not at lambda_1^2 = {:.2f}: of {} updates {:.0f} % "
      "have the sign that the former predicts, {:.0f} % that of the latter.",
      rest, options.lambda2(0), seen, 100 * share(agree_at_rest), 100 * share(agree));
  out.differs =
      "The threshold is lambda_i^2 only where M is near I; at the fixed point M_ii = lambda_i^2 / D_i, which "
      "moves it to D_i = kurtosis + d - 1 of the neuron's own source.";
  return out;
}

Result fixed_point(const Setting& setting) {
  // Lambda as table 1 heads it, white data: the paper expects M near I.
  const std::vector<double> lambda{1.0, 1.5, 1.8, 6.07};
  Random random(9);
  const Matrix<double> A = normal_mixing(4, random);
  const Mixture m =
      mix(make_sources(four_sources, setting.quick ? 100000 : 1000000, Timing::iid, random), A, true);
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
    const Source source = four_sources[static_cast<std::size_t>(found)];
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
      "M comes to diag({:.3f}, {:.3f}, {:.3f}, {:.2f}), within {:.1f} % of lambda^2/(kurtosis + d - 1); the "
      "outputs come in the predicted order, {} of 4.",
      run.M(0, 0), run.M(1, 1), run.M(2, 2), run.M(3, 3), 100 * worst, in_order);
  out.differs =
      "M is not near I for the paper's own Lambda, and the order of the outputs is not arbitrary: the "
      "largest lambda takes the source of smallest kurtosis.";
  return out;
}

}  // namespace demix::paper
