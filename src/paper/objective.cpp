#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "demix/fobi.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/objective.hpp"
#include "demix/report.hpp"
#include "paper/items.hpp"
#include "paper/runs.hpp"

/// What the paper claims of its objective: that the algorithms minimise it, and that its optimum is the
/// sources.
namespace demix::paper {

Result objective(const Setting& setting) {
  Random random(31);
  const Matrix<double> A = normal_mixing(4, random);
  const Mixture m =
      mix(make_sources(four_sources, setting.quick ? 5000 : 20000, Timing::iid, random), A, true);
  const Matrix<double> X = m.mixtures.colwise() - m.mixtures.rowwise().mean();
  const Matrix<double> gamma_inv = gamma_inverse(X);

  report::CurvesFigure figure;
  report::CurvesFigure::Panel cost{"similarity matching", "steps", "cost less its least", true, true, {}, {}};
  report::CurvesFigure::Panel saddle{"min-max", "steps", "L(W, M, Y)", true, false, {}, {}};
  Result out;
  const Index steps = setting.quick ? 500 : 3000;
  double least = std::numeric_limits<double>::infinity();
  Index rises = 0;
  for (const bool natural : {true, false}) {
    SmIcaOfflineOptions o;
    o.lambda2 = default_lambda2(4);
    o.seed = 4;
    if (!natural) {
      o.steps = SmIcaOfflineOptions::Steps::published;
      o.eta = 1e-2;
      o.tau = 0.75;
    }
    o.max_iterations = steps;
    report::CurvesFigure::Curve matching{
        natural ? "natural steps" : "as published (0.01, 0.75)", {}, {}, {}, {}, false};
    report::CurvesFigure::Curve value = matching;
    double next = 1;
    o.watch = [&](Index step, const Matrix<double>& W, const Matrix<double>& M) {
      const Matrix<double> Y = inverse(M) * W * X;
      if (!Y.allFinite()) return;
      const double now = similarity_objective(X, gamma_inv, Y, o.lambda2);
      const double L = min_max_objective(W, M, Y, X, gamma_inv, o.lambda2);
      if (natural && !value.y.empty() && L > value.y.back() + 1e-9 * std::abs(L)) ++rises;
      if (natural || static_cast<double>(step + 1) >= next) {
        matching.x.push_back(static_cast<double>(step + 1));
        matching.y.push_back(now);
        value.x.push_back(static_cast<double>(step + 1));
        value.y.push_back(L);
        next = static_cast<double>(step + 1) * 1.1;
      }
    };
    sm_ica_offline(m.mixtures, o);
    for (const double v : matching.y) least = std::min(least, v);
    out.numbers.push_back({natural ? "natural.cost" : "published.cost", matching.y.back()});
    out.numbers.push_back({natural ? "natural.min_max" : "published.min_max", value.y.back()});
    cost.curves.push_back(matching);
    saddle.curves.push_back(value);
  }
  // The cost at FOBI's solution, outputs in the order the theorem gives: the global optimum.
  const Model model = fobi(m.mixtures);
  const double optimum = similarity_objective(X, gamma_inv, model.apply(m.mixtures), default_lambda2(4));
  least = std::min(least, optimum);
  for (auto& curve : cost.curves) {
    for (double& v : curve.y) v = std::max(v - least, 1e-12 * std::abs(least));
  }
  figure.panels = {cost, saddle};
  out.length = length_of(setting, fmt::format("{} samples, {} steps", X.cols(), steps));
  draw(figure, setting, out.length, "objective");
  out.numbers.push_back({"fobi.cost", optimum});
  out.numbers.push_back({"natural.rises", static_cast<double>(rises)});
  out.numbers.push_back({"natural_over_fobi", out.numbers[0].value / optimum});
  out.pictures = {{"objective",
                   "The similarity-matching cost, less its least value, and the min-max function along "
                   "offline runs from the same random start on four white mixtures."}};
  out.measured = fmt::format(
      "With natural steps the cost comes down to that of FOBI's solution (ratio {:.9f}) and the min-max "
      "function rises in {} steps; with the published steps (0.01, 0.75) it is at {:.4g} of {:.4g} after {} "
      "steps.",
      out.numbers[0].value / optimum, rises, out.numbers[2].value, optimum, steps);
  return out;
}

Result theorem_1(const Setting& setting) {
  const Index mixings = setting.quick ? 10 : 100;
  const Index samples = setting.quick ? 20000 : 200000;
  const auto condition_of = [&](Index k) {
    return std::pow(10, 6 * static_cast<double>(k) / static_cast<double>(mixings - 1));
  };
  struct Errors {
    double matching, fobi;
  };
  const auto errors = all_of(mixings, setting.threads, setting.progress, [&](Index k) {
    const auto seed = static_cast<std::uint64_t>(k);
    Random random(900 + seed);
    const Matrix<double> A = conditioned_mixing(4, condition_of(k), random);
    const Mixture m = mix(make_sources(four_sources, samples, Timing::iid, random), A);
    return Errors{natural_offline(m, seed).mse, by_fobi(m).mse};
  });
  std::vector<double> condition;
  std::vector<double> matching;
  std::vector<double> by_hand;
  std::vector<double> distance;
  double worst = 0;
  double apart = 0;
  for (const Errors& e : errors) {
    condition.push_back(condition_of(static_cast<Index>(condition.size())));
    matching.push_back(e.matching);
    by_hand.push_back(e.fobi);
    distance.push_back(std::max(std::abs(e.matching / e.fobi - 1), 1e-9));
    worst = std::max(worst, e.matching);
    apart = std::max(apart, distance.back());
  }
  report::CurvesFigure figure;
  figure.panels = {
      {"error",
       "condition of the mixing",
       "MSE",
       true,
       true,
       {{"FOBI", condition, by_hand, {}, {}, false}, {"offline SM-ICA", condition, matching, {}, {}, true}},
       {}},
      {"distance to FOBI",
       "condition of the mixing",
       "|MSE / FOBI's - 1|",
       true,
       true,
       {{"offline SM-ICA", condition, distance, {}, {}, true}},
       {}}};
  Result out;
  out.length = length_of(setting, fmt::format("{} mixings, {} samples each", mixings, samples));
  draw(figure, setting, out.length, "theorem1");
  out.pictures = {
      {"theorem1",
       fmt::format("Error of the global optimum over {} random mixings of four sources, {} "
                   "samples each, condition 1 to 1e6, and FOBI's on the same samples (line); beside it, how "
                   "far the one is from the other.",
                   mixings, samples)}};
  out.numbers = {{"worst_mse", worst}, {"largest_distance_to_fobi", apart}};
  out.measured = fmt::format(
      "The optimum recovers the sources whatever the mixing: worst error {}, never more than {:.1g} away "
      "from FOBI's, relatively.",
      number(worst), apart);
  return out;
}

}  // namespace demix::paper
