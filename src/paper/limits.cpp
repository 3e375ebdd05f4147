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
      const auto progress = part_of(setting.progress, done / all, (done + 1) / all);
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
  out.length = length_of(setting, fmt::format("{} draws of up to {} samples", draws, lengths.back()));
  draw(figure, setting, out.length, "equal-kurtosis");
  out.pictures = {{"equal-kurtosis", fmt::format("Four sources, median error over {} draws.", draws)}};
  out.measured = fmt::format(
      "With equal kurtoses the error stays at {} whatever the number of samples, and the warning fires in "
      "{:.0f} % of draws (in {:.0f} % where the kurtoses differ); FastICA from the same start comes to {}.",
      number(out.numbers[2].value), 100 * out.numbers[3].value, 100 * out.numbers[1].value,
      number(out.numbers[4].value));
  return out;
}

}  // namespace demix::paper
