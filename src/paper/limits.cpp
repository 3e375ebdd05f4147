#include <fmt/format.h>

#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// The limits the paper names in its discussion.
namespace demix::paper {

Result equal_kurtosis(const Setting& setting) {
  const Index draws = setting.quick ? 5 : 40;
  const std::vector<Index> lengths =
      setting.quick ? std::vector<Index>{1000, 10000} : std::vector<Index>{1000, 3162, 10000, 31623, 100000};
  struct Kind {
    std::string name, label;
    std::vector<Source> sources;
    bool refine;
  };
  const std::vector<Source> same(4, Source::laplace);
  const std::vector<Kind> kinds{{"different", "different sources, FOBI", four_sources, false},
                                {"equal", "four Laplace, FOBI", same, false},
                                {"equal_fastica", "four Laplace, FastICA", same, true}};
  report::CurvesFigure figure;
  report::CurvesFigure::Panel panel{
      "", "samples", "median MSE", true, true, {}, {{0.05, "separated", false}}};
  Result out;
  const auto all = static_cast<double>(kinds.size() * lengths.size());
  double done = 0;
  for (const Kind& kind : kinds) {
    report::CurvesFigure::Curve curve{kind.label, {}, {}, {}, {}, false};
    double warned = 0;
    for (const Index samples : lengths) {
      struct Found {
        double error = 0;
        bool warned = false;
      };
      const auto progress = part(setting.progress, done / all, (done + 1) / all);
      const auto found = all_of(draws, setting.threads, progress, [&](Index k) {
        Random random(1200 + static_cast<std::uint64_t>(k));
        const Matrix<double> A = normal_mixing(4, random);
        const Mixture m = mix(make_sources(kind.sources, samples, Timing::iid, random), A);
        const Model model = kind.refine ? fastica(MatrixRecording<double>(m.mixtures), {}) : fobi(m.mixtures);
        Found f{mse(m.sources, model.apply(m.mixtures)), false};
        for (const Warning& w : model.warnings) f.warned |= w.kind == Warning::Kind::unresolved;
        return f;
      });
      std::vector<double> error;
      warned = 0;
      for (const Found& f : found) {
        error.push_back(f.error);
        warned += f.warned ? 1 : 0;
      }
      ++done;
      curve.x.push_back(static_cast<double>(samples));
      curve.y.push_back(ranked(error, 0.5));
    }
    panel.curves.push_back(curve);
    out.numbers.push_back({kind.name + ".mse", curve.y.back()});
    out.numbers.push_back({kind.name + ".warned", warned / static_cast<double>(draws)});
  }
  figure.panels = {panel};
  report::draw(figure, setting.folder / "equal-kurtosis");
  out.pictures = {{"equal-kurtosis", fmt::format("Four sources, median error over {} draws.", draws)}};
  out.measured = fmt::format(
      "With equal kurtoses the error stays at {} whatever the number of samples, and the warning fires in "
      "{:.0f} % of draws (in {:.0f} % where the kurtoses differ); FastICA from the same start comes to {}.",
      number(out.numbers[2].value), 100 * out.numbers[3].value, 100 * out.numbers[1].value,
      number(out.numbers[4].value));
  return out;
}

Result outliers(const Setting& setting) {
  const Index draws = setting.quick ? 5 : 40;
  const Index samples = setting.quick ? 20000 : 100000;
  const std::vector<double> shares{0, 1e-4, 3e-4, 1e-3, 3e-3, 1e-2};
  const std::vector<Weight> weights{Weight::square, Weight::norm, Weight::log, Weight::reciprocal};
  report::CurvesFigure figure;
  report::CurvesFigure::Panel panel{"", "share of bursts (leftmost: none)", "median MSE", true, true,
                                    {}, {{0.05, "separated", false}}};
  Result out;
  std::vector<std::vector<double>> found;
  const auto all = static_cast<double>(weights.size() * shares.size());
  double done = 0;
  for (const Weight weight : weights) {
    report::CurvesFigure::Curve curve{"w = " + std::string(weight_name(weight)), {}, {}, {}, {}, false};
    for (const double share : shares) {
      const auto progress = part(setting.progress, done / all, (done + 1) / all);
      const auto error = all_of(draws, setting.threads, progress, [&](Index k) {
        Random random(1500 + static_cast<std::uint64_t>(k));
        const Matrix<double> A = normal_mixing(3, random);
        const Mixture m = mix(make_sources(scenario_sources(4), samples, Timing::iid, random), A);
        Matrix<double> X = m.mixtures;
        for (Index t = 0; t < samples; ++t) {  // everything at once ten times as strong
          if (random.uniform() < share) X.col(t) *= 10;
        }
        FobiOptions o;
        o.weight = weight;
        const Model model = fobi(X, o);
        return mse(m.sources, standardized(model.apply(m.mixtures)));
      });
      ++done;
      curve.x.push_back(share > 0 ? share : shares[1] / 3);
      curve.y.push_back(ranked(error, 0.5));
    }
    found.push_back(curve.y);
    panel.curves.push_back(curve);
    out.numbers.push_back({std::string(weight_name(weight)) + ".clean", curve.y.front()});
    out.numbers.push_back({std::string(weight_name(weight)) + ".at_1e-3", curve.y[3]});
  }
  figure.panels = {panel};
  report::draw(figure, setting.folder / "outliers");
  out.pictures = {
      {"outliers",
       fmt::format("FOBI with weights that grow more slowly, on square, sine and Laplace with bursts, frames "
                   "ten times as strong; median error over {} draws, on the clean part.",
                   draws)}};
  out.measured = fmt::format(
      "With one burst in a thousand frames the paper's weight |h|^2 goes from {} to {}; w = 1/(1 + |h|^2) "
      "from {} to {}.",
      number(found[0].front()), number(found[0][3]), number(found[3].front()), number(found[3][3]));
  return out;
}

}  // namespace demix::paper
