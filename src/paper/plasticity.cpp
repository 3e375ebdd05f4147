#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "demix/linear_algebra.hpp"
#include "demix/natural_network.hpp"
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

  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  constexpr double lowest = -1.5;  // of what is drawn
  const std::vector<double> activity = evenly(0, 6, 61);
  const auto line = [&](const std::string& label, double threshold) {
    report::CurvesFigure::Curve curve{label, activity, {}, {}, {}, false};
    for (const double a : activity) {
      const double factor = hebbian_factor(a, threshold);
      curve.y.push_back(factor >= lowest ? factor : nan);
    }
    return curve;
  };
  const auto shade = [&](const std::string& label, double from, double to, double low, double high) {
    return report::CurvesFigure::Curve{label, {from, to}, {nan, nan}, {low, low}, {high, high}, false};
  };
  // What the synapses of output 1 really did:
  // Delta W_1j / (2 eta y_1 x_j) = 1 - |y|^2 c_1 / (lambda_1^2 y_1).
  report::CurvesFigure::Curve real{"learned by output 1, at rest", {}, {}, {}, {}, true};
  Index agree = 0;
  Index agree_at_rest = 0;
  Index seen = 0;
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
    if (a <= 6 && factor >= lowest && factor <= 1 && t % 32 == 0) {
      real.x.push_back(a);
      real.y.push_back(factor);
    }
  }
  const std::string ltp = "potentiation (LTP)";
  const std::string ltd = "depression (LTD)";
  report::CurvesFigure::Panel ours{"SM-ICA", "total activity ‖y‖²", "change per y₁ xⱼ", false, false, {}, {}};
  ours.curves = {shade(ltp, 0, 6, 0, 1), shade(ltd, 0, 6, lowest, 0), line("1 - ‖y‖²/D₁, at rest", rest),
                 line("1 - ‖y‖²/λ₁², the paper's M = I", options.lambda2(0)), real};
  ours.marks = {{options.lambda2(0), "λ₁²", true}, {rest, "D₁", true}};

  // BCM: the neuron's own activity decides, and the other way round.
  report::CurvesFigure::Panel bcm{"BCM", "postsynaptic activity y", "φ(y), change per xⱼ", false, false, {},
                                  {}};
  const double theta = 1;
  report::CurvesFigure::Curve phi{"φ(y) = y(y - θ)", evenly(0, 1.8, 37), {}, {}, {}, false};
  for (const double v : phi.x) phi.y.push_back(v * (v - theta));
  bcm.curves = {shade(ltp, 0, 1.8, 0, 1.5), shade(ltd, 0, 1.8, -0.4, 0), phi};
  bcm.marks = {{theta, "θ", true}};
  report::CurvesFigure figure;
  figure.panels = {ours, bcm};
  const std::string length = length_of(setting, "200000 frames, as in full");
  draw(figure, setting, length, "plasticity");

  const auto share = [&](Index n) { return static_cast<double>(n) / static_cast<double>(seen); };
  Result out;
  out.length = length;
  out.pictures = {
      {"plasticity",
       "Left: what multiplies y_1 x_j in a feedforward synapse of output 1: in a network at rest (dots), the "
       "line it follows there, 1 - |y|^2/D_1, and the paper's approximation M = I. Right: BCM's phi(y): "
       "there the neuron's own activity decides, low weakens and high strengthens; here the activity of all "
       "does, and the other way round."}};
  out.numbers = {
      {"sign_agrees", share(agree)}, {"sign_agrees_at_rest", share(agree_at_rest)}, {"threshold", rest}};
  out.measured = fmt::format(
      "Potentiation at low total activity and depression at high, as the paper says. In a network that has "
      "come to rest the sign changes at |y|^2 = {:.2f}; lambda_1^2 is {:.2f}. Of {} updates {:.0f} % "
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

  // The same online, one frame at a time.
  NaturalNetworkOptions natural;
  natural.lambda2 = o.lambda2;
  NaturalNetwork<double> network(4, natural);
  SmIcaNetworkOptions slow;  // slow enough to come to rest
  slow.eta = 2e-4;
  slow.tau = 0.5;
  slow.lambda2 = o.lambda2;
  SmIcaNetwork<double> published(4, 4, slow);
  Vector<double> y(4);
  for (Index t = 0; t < m.mixtures.cols(); ++t) {
    network.step(m.mixtures.col(t), y);
    published.step(m.mixtures.col(t), y);
  }

  Table table{"fixed-point",
              {"output", "lambda", "source found", "lambda^2/(kurtosis + d - 1)", "M_ii, offline",
               "M_ii, network with natural steps", "M_ii, network as published (2e-4, 0.5)"},
              {}};
  Result out;
  out.length = length_of(setting, fmt::format("{} frames", m.mixtures.cols()));
  // The largest lambda takes the source of smallest kurtosis.
  const std::vector<Source> expected{Source::laplace, Source::sawtooth, Source::sine, Source::square};
  struct Rest {
    std::string name;
    Matrix<double> M, gain;
    double worst = 0;
    Index in_order = 0;
  };
  std::vector<Rest> rests{{"", run.M, Cholesky(run.M).solve(run.W) * m.mixing},
                          {"natural.", network.lateral(), network.unmixing() * m.mixing},
                          {"published.", published.lateral(), published.unmixing() * m.mixing}};
  for (Index i = 0; i < 4; ++i) {
    const Source source = expected[static_cast<std::size_t>(i)];
    const double predicted = o.lambda2(i) / (source_kurtosis(source) + 3);
    std::vector<std::string> row{std::to_string(i + 1),
                                 fmt::format("{:g}", lambda[static_cast<std::size_t>(i)]),
                                 std::string(source_name(source)), fmt::format("{:.3f}", predicted)};
    for (Rest& rest : rests) {
      Index found = 0;
      rest.gain.row(i).cwiseAbs().maxCoeff(&found);
      rest.in_order += four_sources[static_cast<std::size_t>(found)] == source ? 1 : 0;
      rest.worst = std::max(rest.worst, std::abs(rest.M(i, i) / predicted - 1));
      row.push_back(fmt::format("{:.3f}", rest.M(i, i)));
    }
    table.rows.push_back(row);
    out.numbers.push_back({fmt::format("m_{}{}", i + 1, i + 1), run.M(i, i)});
  }
  for (const Rest& rest : rests) {
    out.numbers.push_back({rest.name + "in_predicted_order", static_cast<double>(rest.in_order)});
    out.numbers.push_back({rest.name + "largest_deviation", rest.worst});
  }
  out.tables = {table};
  out.measured = fmt::format(
      "Offline M comes to diag({:.3f}, {:.3f}, {:.3f}, {:.2f}), within {:.1f} % of lambda^2/(kurtosis + d - "
      "1); the outputs come in the predicted order, {} of 4. Online, after {} frames, the network with "
      "natural steps comes within {:.0f} % of it ({} of 4 in order), the published one at (2e-4, 0.5) within "
      "{:.0f} % ({} of 4).",
      run.M(0, 0), run.M(1, 1), run.M(2, 2), run.M(3, 3), 100 * rests[0].worst, rests[0].in_order,
      m.mixtures.cols(), 100 * rests[1].worst, rests[1].in_order, 100 * rests[2].worst, rests[2].in_order);
  out.differs =
      "M is not near I for the paper's own Lambda, and the order of the outputs is not arbitrary: the "
      "largest lambda takes the source of smallest kurtosis.";
  return out;
}

}  // namespace demix::paper
