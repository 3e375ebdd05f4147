#include <fmt/format.h>

#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/moments.hpp"
#include "demix/report.hpp"
#include "demix/whitening.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Figure 1: what FOBI does, in the plane, and the network that does it.
namespace demix::paper {
namespace {

// The columns of `axes` as arrows.
std::vector<report::ScatterFigure::Arrow> arrows(const Matrix<double>& axes, double length,
                                                 const std::string& name) {
  std::vector<report::ScatterFigure::Arrow> all;
  for (Index k = 0; k < axes.cols(); ++k) {
    const Vector<double> v = length * axes.col(k).normalized();
    all.push_back({v(0), v(1), name.empty() ? "" : fmt::format("{}{}", name, k + 1)});
  }
  return all;
}

}  // namespace

Result figure_1a(const Setting& setting) {
  Matrix<double> A(2, 2);
  A << 0.10054428, 0.81736508, 0.75216771, 0.44640104;  // appendix B
  Random random(11);
  Matrix<double> S = make_sources({Source::sine, Source::sawtooth}, 500000, Timing::waveform, random);
  for (Index i = 0; i < S.rows(); ++i) {  // each shuffled by itself
    for (Index t = S.cols() - 1; t > 0; --t) std::swap(S(i, t), S(i, random.below(t + 1)));
  }
  const Matrix<double> X = A * S;

  Moments moments(2);
  moments.add(Frames<double>(X));
  const Whitening white = whiten(moments);
  const Matrix<double> H = white.whitener * (X.colwise() - white.mean);
  const Matrix<double> Z = H * H.colwise().norm().asDiagonal();
  WeightedMoments weighted(white.mean, white.whitener);
  weighted.add(Frames<double>(X));
  const Matrix<double> U = symmetric_eigen(weighted.covariance()).vectors;
  const Matrix<double> Y = U.transpose() * H;

  const Matrix<double> axes = white.whitener * A;
  const auto largest = [](const Matrix<double>& M) { return M.cwiseAbs().maxCoeff(); };
  report::ScatterFigure figure;
  figure.panels = {
      {"(i) observed x", "x1", "x2", X, arrows(A, largest(X), "s"), {}},
      {"(ii) whitened h", "h1", "h2", H, arrows(axes, largest(H), "s"), {}},
      {"(iii) weighted z", "z1", "z2", Z, arrows(axes, largest(Z), "s"), arrows(U, 0.6 * largest(Z), "")},
      {"(iv) recovered y", "y1", "y2", Y, arrows(U.transpose() * axes, largest(Y), "s"), {}}};
  const std::string length = length_of(setting, "500000 samples, as in full");
  draw(figure, setting, length, "fig1a");

  const double error = mse(S, Y);
  Result out;
  out.length = length;
  out.pictures = {{"fig1a",
                   "A sine and a saw-tooth, 500 000 samples of each in random order, of which 5000 are "
                   "drawn, mixed by the "
                   "matrix of appendix B. "
                   "Coloured arrows: axes of the sources; black: principal directions of z = |h| h."}};
  out.numbers = {{"mse", error}, {"amari", amari_index(U.transpose() * axes)}};
  out.measured = fmt::format(
      "The principal directions of z are the axes of the sources: error of the recovered {}.", number(error));
  return out;
}

Result figure_1b(const Setting& setting) {
  const Index samples = 500000;
  const Mixture m = make_scenario(1, samples, 5);
  const SmIcaNetworkOptions options = published_options(5e-4, 0.75, {1.0, 1.5, 1.8}, 5);
  SmIcaNetwork<double> network(3, 3, options);
  Matrix<double> Y(3, samples);
  network.process(Frames<double>(m.mixtures), Y);
  const double error = mse_of_gain(network.unmixing() * m.mixing);

  report::NetworkFigure figure;
  figure.A = m.mixing;
  figure.sources = {"s1", "s2", "s3"};
  figure.W = network.feedforward();
  figure.M = network.lateral();
  figure.inputs = {"x1", "x2", "x3"};
  figure.outputs = {"y1", "y2", "y3"};
  const std::string length = length_of(setting, fmt::format("{} frames, as in full", samples));
  draw(figure, setting, length, "fig1b");

  Result out;
  out.length = length;
  out.pictures = {
      {"fig1b",
       fmt::format(
           "The generative model and the network after {} frames of scenario 1, drawn from its weights: "
           "W from the inputs to the synapses of the dendrites c, M among the somata y, its diagonal as a "
           "leak, and the total activity, which modulates the plasticity of W and of nothing else.",
           samples)}};
  out.numbers = {{"mse", error}};
  for (Index i = 0; i < 3; ++i)
    out.numbers.push_back({fmt::format("m_{}{}", i + 1, i + 1), network.lateral()(i, i)});
  out.measured = fmt::format(
      "On white sub-Gaussian sources, with eta 5e-4 and tau 0.75, it separates: error {}; diagonal of M "
      "{:.2f}, {:.2f}, {:.2f}.",
      number(error), network.lateral()(0, 0), network.lateral()(1, 1), network.lateral()(2, 2));
  out.differs = "M is not near the identity, which the paper assumes in its account of plasticity.";
  return out;
}

}  // namespace demix::paper
