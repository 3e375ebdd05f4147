#include <fmt/format.h>

#include <cmath>
#include <initializer_list>

#include "demix/linear_algebra.hpp"
#include "demix/report.hpp"
#include "demix/rules/oja_subspace.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "demix/rules/reconstruction.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// Appendix E: the reconstruction network, Oja's rule and similarity matching, all for the principal
/// subspace.
namespace demix::paper {
namespace {

// ||P - P_true||_F^2 / (2 k): 0 = the same subspace, 1 = at right angles.
double subspace_error(const Matrix<double>& rows, Index k) {
  const Matrix<double> Q = qr(rows.transpose()).Q;
  const double shared = Q.topRows(k).squaredNorm();  // the true one is that of the first k axes
  return (static_cast<double>(k) - shared) / static_cast<double>(k);
}

// Both networks, drawn from what they have learned of four inputs: where the lateral weights come from
// differs.
Figure schematic(const Setting& setting) {
  RuleOptions options;
  options.form = "linear";
  options.eta = 2e-3;
  rules::Reconstruction reconstruction(4, 2, options);
  rules::PrincipalSubspace matching(4, 2, options);
  const Vector<double> deviation{{1.5, 1.2, 0.5, 0.4}};
  Random random(5);
  const Matrix<double> A = random.orthogonal(4) * deviation.asDiagonal();
  Vector<double> y(2);
  const Index frames = 20000;
  for (Index t = 0; t < frames; ++t) {
    const Vector<double> x = A * random.normal(4, 1);
    for (Rule* rule : std::initializer_list<Rule*>{&reconstruction, &matching}) {
      rule->respond(x, y);
      rule->learn(x, y);
    }
  }
  std::vector<std::filesystem::path> parts;
  const auto draw = [&](const std::string& name, const std::string& title, const Matrix<double>& W,
                        const Matrix<double>& M) {
    report::NetworkFigure figure;
    figure.title = title;
    figure.W = W;
    figure.M = M;
    figure.inputs = {"x1", "x2", "x3", "x4"};
    figure.outputs = {"y1", "y2"};
    figure.point_neurons = true;
    parts.push_back(demix::paper::draw(
        figure, setting, length_of(setting, fmt::format("{} frames, as in full", frames)), name)[0]);
  };
  draw("appendix-e-reconstruction", "Reconstruction: M = W Wᵀ, not learned", reconstruction.W,
       reconstruction.lateral());
  draw("appendix-e-matching", "Similarity matching: M learned, anti-Hebbian", matching.W, matching.M);
  report::draw(report::CompositeFigure{{{parts[0]}, {parts[1]}}}, setting.folder / "appendix-e-networks");
  return {"appendix-e-networks",
          "Two networks for the principal subspace, drawn from their weights. A, reconstruction: the lateral "
          "weights are the "
          "products W W^T of the feedforward ones, which no synapse can know. B, similarity matching: "
          "lateral weights "
          "learned where they are."};
}

}  // namespace

Result appendix_e(const Setting& setting) {
  constexpr Index inputs = 10, outputs = 3;
  const Index samples = setting.quick ? 5000 : 50000;
  const Index seeds = setting.quick ? 3 : 20;
  Vector<double> deviation(inputs);
  for (Index i = 0; i < inputs; ++i) deviation(i) = i < outputs ? 1.5 - 0.2 * static_cast<double>(i) : 0.4;
  std::vector<Index> at;
  double frame = 10;
  while (frame < static_cast<double>(samples) * 1.01) {
    at.push_back(std::lround(frame));
    frame *= 1.5848932;  // five to a decade
  }
  struct Courses {
    std::vector<double> reconstruction, oja, matching;
  };
  const auto courses = all_of(seeds, setting.threads, setting.progress, [&](Index k) {
    Courses c;
    RuleOptions options;
    options.form = "linear";
    options.eta = 5e-3;
    options.seed = static_cast<std::uint64_t>(k);
    rules::Reconstruction reconstruction(inputs, outputs, options);
    rules::OjaSubspace oja(inputs, outputs, options);
    rules::PrincipalSubspace matching(inputs, outputs, options);
    Random random(options.seed + 77);
    Vector<double> y(outputs);
    Vector<double> x(inputs);
    std::size_t next = 0;
    for (Index t = 1; next < at.size(); ++t) {
      for (Index i = 0; i < inputs; ++i) x(i) = deviation(i) * random.normal();
      for (Rule* rule : std::initializer_list<Rule*>{&reconstruction, &oja, &matching}) {
        rule->respond(x, y);
        rule->learn(x, y);
      }
      if (t < at[next]) continue;
      c.reconstruction.push_back(subspace_error(reconstruction.unmixing(), outputs));
      c.oja.push_back(subspace_error(oja.unmixing(), outputs));
      c.matching.push_back(subspace_error(matching.unmixing(), outputs));
      ++next;
    }
    return c;
  });
  const auto curve = [&](const std::string& label, std::vector<double> Courses::*which) {
    report::CurvesFigure::Curve out{label, {at.begin(), at.end()}, {}, {}, {}, false};
    for (std::size_t k = 0; k < at.size(); ++k) {
      std::vector<double> values;
      for (const Courses& c : courses) values.push_back((c.*which)[k]);
      out.low.push_back(ranked(values, 0.25));
      out.y.push_back(ranked(values, 0.5));
      out.high.push_back(ranked(values, 0.75));
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
       {curve("reconstruction network", &Courses::reconstruction),
        curve("Oja's subspace rule", &Courses::oja), curve("similarity matching", &Courses::matching)},
       {}}};
  Result out;
  out.length = length_of(setting, fmt::format("{} runs of {} frames", seeds, samples));
  draw(figure, setting, out.length, "appendix-e");
  const auto& curves = figure.panels[0].curves;
  out.pictures = {{"appendix-e", fmt::format("Share of the principal subspace (3 of 10 dimensions) that is "
                                             "missed, median and quartiles over {} runs, eta = 5e-3.",
                                             seeds)},
                  schematic(setting)};
  out.numbers = {{"reconstruction", curves[0].y.back()},
                 {"oja", curves[1].y.back()},
                 {"similarity_matching", curves[2].y.back()}};
  out.measured = fmt::format(
      "All find the principal subspace: error {} by the recurrent reconstruction network, {} by Oja's rule, "
      "{} by similarity "
      "matching, whose synapses alone need nothing but their own two ends.",
      number(curves[0].y.back()), number(curves[1].y.back()), number(curves[2].y.back()));
  return out;
}

}  // namespace demix::paper
