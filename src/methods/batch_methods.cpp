#include "methods/batch_methods.hpp"

#include <algorithm>
#include <cmath>

#include "batch/frame.hpp"
#include "demix/crosstalk.hpp"
#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/sm_ica_offline.hpp"
#include "methods/record.hpp"

namespace demix {
namespace {

// The largest crosstalk to expect between any two components that FOBI found.
double expected_crosstalk(const Recording& X, const Model& model) {
  const Matrix<double> crosstalk =
      fobi_crosstalk(model.apply(sample_of(X, model.samples)), Weight::square, model.samples);
  double worst = 0;
  for (Index i = 0; i < crosstalk.rows(); ++i) {
    for (Index j = 0; j < crosstalk.cols(); ++j) worst = std::max(worst, i == j ? 0 : crosstalk(i, j));
  }
  return worst;
}

}  // namespace

Outcome run_auto(const Recording& X, const MethodOptions& o) {
  constexpr double enough = 0.03;  // 30 dB
  Outcome first = run_fobi(X, o);
  const double crosstalk = expected_crosstalk(X, first.model);
  const std::string decibels = std::to_string(std::lround(-20 * std::log10(std::max(crosstalk, 1e-15))));
  if (crosstalk < enough) {
    first.why = "the kurtoses are far apart: sampling leaves a crosstalk of about -" + decibels + " dB";
    return first;
  }
  Outcome second = run_fastica(X, o);
  second.why = crosstalk < 1
                   ? "by kurtosis alone (fobi) a crosstalk of about -" + decibels + " dB was to be expected"
                   : "the kurtoses are too close for fobi";
  return second;
}

Outcome run_fastica(const Recording& X, const MethodOptions& o) {
  FastIcaOptions options;
  if (!o.form.empty()) options.contrast = contrast_named(o.form);
  options.whitening.components = o.components;
  options.whitening.share = o.share;
  options.progress = o.progress;
  Outcome out{true, {}, fastica(X, options), {}, {}};
  record(out.model, o);
  return out;
}

Outcome run_fobi(const Recording& X, const MethodOptions& o) {
  FobiOptions options;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.whitening.share = o.share;
  options.progress = o.progress;
  Outcome out{true, {}, fobi(X, options), {}, {}};
  record(out.model, o);
  return out;
}

Outcome run_jade(const Recording& X, const MethodOptions& o) {
  JadeOptions options;
  // Of one, now and then two sources stay mixed; from three on it takes as long as JADE, up to 32 components.
  if (o.form == "k-jade") options.neighbours = 2;
  options.whitening.components = o.components;
  options.whitening.share = o.share;
  options.progress = o.progress;
  Outcome out{true, {}, jade(X, options), {}, {}};
  record(out.model, o);
  return out;
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
