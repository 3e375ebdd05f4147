#include "methods/batch_methods.hpp"

#include <algorithm>
#include <cmath>

#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/picard.hpp"
#include "demix/sm_ica_offline.hpp"
#include "methods/record.hpp"

namespace demix {
namespace {

// What all of them can be asked for.
template <typename Options>
Options batch_options(const MethodOptions& o) {
  Options options;
  options.whitening.components = o.components;
  options.whitening.share = o.share;
  options.order = o.order.value_or(Order::kurtosis);
  options.progress = o.progress;
  return options;
}

Outcome done(Model model, const MethodOptions& o) {
  record(model, o);
  return {true, {}, std::move(model), {}, {}};
}

}  // namespace

Outcome run_auto(const Recording& X, const MethodOptions& o) {
  constexpr double enough = 0.03;  // 30 dB
  const auto with_progress = [&](double from, double to) {
    MethodOptions part = o;
    if (o.progress) part.progress = [=, &o](double share) { o.progress(from + (to - from) * share); };
    return part;
  };
  Matrix<double> between;
  auto by_kurtosis = batch_options<FobiOptions>(with_progress(0, 0.2));
  by_kurtosis.crosstalk = &between;
  Outcome first = done(fobi(X, by_kurtosis), o);
  const double crosstalk = between.maxCoeff();
  const std::string decibels = std::to_string(std::lround(-20 * std::log10(std::max(crosstalk, 1e-15))));
  if (crosstalk < enough) {
    first.why = "the kurtoses are far apart: sampling leaves a crosstalk of about -" + decibels + " dB";
    return first;
  }
  const std::string why =
      crosstalk < 1 ? "by kurtosis alone (fobi) a crosstalk of about -" + decibels + " dB was to be expected"
                    : "the kurtoses are too close for fobi";
  // Where FastICA is good it takes a few steps; where it would take hundreds, Picard does not.
  auto fast = batch_options<FastIcaOptions>(with_progress(0.2, 0.5));
  fast.max_iterations = 15;
  Outcome second = done(fastica(X, fast), o);
  second.why = why;
  if (second.model.convergence.converged) return second;
  Outcome third = done(picard(X, batch_options<PicardOptions>(with_progress(0.5, 1))), o);
  third.why = why + ", and fastica does not come to rest";
  return third;
}

Outcome run_fastica(const Recording& X, const MethodOptions& o) {
  auto options = batch_options<FastIcaOptions>(o);
  std::string contrast = o.form;
  if (const auto at = contrast.find("-deflation"); at != std::string::npos) {
    options.deflation = true;
    contrast.resize(at);
  }
  if (!contrast.empty()) options.contrast = contrast_named(contrast);
  if (o.start) options.start = *o.start;
  return done(fastica(X, options), o);
}

Outcome run_picard(const Recording& X, const MethodOptions& o) {
  auto options = batch_options<PicardOptions>(o);
  options.orthogonal = o.form != "free";
  if (o.start) options.start = *o.start;
  return done(picard(X, options), o);
}

Outcome run_fobi(const Recording& X, const MethodOptions& o) {
  auto options = batch_options<FobiOptions>(o);
  options.weight = o.weight.value_or(Weight::square);
  return done(fobi(X, options), o);
}

Outcome run_jade(const Recording& X, const MethodOptions& o) {
  auto options = batch_options<JadeOptions>(o);
  // Of one, now and then two sources stay mixed; from three on it takes as long as JADE, up to 32 components.
  if (o.form == "k-jade") options.neighbours = 2;
  return done(jade(X, options), o);
}

Outcome run_sm_ica_offline(const Recording& X, const MethodOptions& o) {
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.whitening.share = o.share;
  if (o.form == "published") {
    options.steps = SmIcaOfflineOptions::Steps::published;
    options.eta = *o.eta;
    options.tau = *o.tau;
  }
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  if (o.progress) {
    options.watch = [&](Index iteration, const Matrix<double>&, const Matrix<double>&) {
      if (iteration % 64 != 0) return;
      o.progress(static_cast<double>(iteration) / static_cast<double>(options.max_iterations));
    };
  }
  SmIcaOffline run = sm_ica_offline(Frames<double>(gather(X)), options);
  if (run.status == OfflineStatus::diverged) {
    return {false,
            "sm-ica-offline diverged at iteration " + std::to_string(run.iterations) +
                "; give a smaller --eta, or --form natural, which cannot diverge",
            {},
            {},
            {}};
  }
  record(run.model, o);
  return {true, {}, std::move(run.model), {}, {}};
}

}  // namespace demix
