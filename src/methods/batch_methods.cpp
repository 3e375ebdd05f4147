#include "methods/batch_methods.hpp"

#include "demix/fastica.hpp"
#include "demix/fobi.hpp"
#include "demix/jade.hpp"
#include "demix/picard.hpp"
#include "demix/separate.hpp"
#include "demix/sm_ica_offline.hpp"
#include "methods/model_options.hpp"

namespace demix {
namespace {

BatchOptions batch_options(const MethodOptions& o) {
  return {.whitening = {.components = o.components, .share = o.share},
          .order = o.order.value_or(Order::kurtosis)};
}

Outcome done(Model model, const MethodOptions& o, std::string why = {}) {
  record_options(model, o);
  return {std::move(model), std::move(why), {}};
}

// Whiten, rotate, describe. find(white): the rotation.
template <typename Find>
Outcome separate_by(const Recording& X, const MethodOptions& o, const Find& find) {
  const BatchOptions batch = batch_options(o);
  const WhiteRecording white = whiten(X, batch.whitening);
  return done(describe(white, find(white), batch.order), o);
}

Rotation start_of(const WhiteRecording& white, const MethodOptions& o) {
  return o.start ? rotation_near(white, *o.start) : Rotation();
}

}  // namespace

Outcome run_auto(const Recording& X, const MethodOptions& o) {
  Separated found = separate(X, batch_options(o));
  return done(std::move(found.model), o, std::move(found.why));
}

Outcome run_fastica(const Recording& X, const MethodOptions& o) {
  FastIcaOptions options;
  std::string contrast = o.form;
  if (const auto at = contrast.find("-deflation"); at != std::string::npos) {
    options.deflation = true;
    contrast.resize(at);
  }
  if (!contrast.empty()) options.contrast = contrast_named(contrast);
  options.max_iterations = o.max_iterations.value_or(options.max_iterations);
  options.tolerance = o.tolerance.value_or(options.tolerance);
  return separate_by(
      X, o, [&](const WhiteRecording& white) { return fastica(white, options, start_of(white, o)); });
}

Outcome run_picard(const Recording& X, const MethodOptions& o) {
  PicardOptions options{.orthogonal = o.form != "free"};
  options.max_iterations = o.max_iterations.value_or(options.max_iterations);
  options.tolerance = o.tolerance.value_or(options.tolerance);
  return separate_by(X, o,
                     [&](const WhiteRecording& white) { return picard(white, options, start_of(white, o)); });
}

Outcome run_fobi(const Recording& X, const MethodOptions& o) {
  const FobiOptions options{.weight = o.weight.value_or(Weight::square)};
  return separate_by(X, o, [&](const WhiteRecording& white) { return fobi(white, options); });
}

JadeOptions jade_options(const MethodOptions& o) {
  JadeOptions options;
  // Of one, now and then two sources stay mixed; from three on it takes as long as JADE, up to 32 components.
  if (o.form == "k-jade") options.neighbours = 2;
  options.max_sweeps = o.max_iterations.value_or(options.max_sweeps);
  options.tolerance = o.tolerance.value_or(options.tolerance);
  return options;
}

Outcome run_jade(const Recording& X, const MethodOptions& o) {
  const JadeOptions options = jade_options(o);
  return separate_by(X, o, [&](const WhiteRecording& white) { return jade(white, options); });
}

SmIcaOfflineOptions sm_ica_offline_options(const MethodOptions& o) {
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening = batch_options(o).whitening;
  options.max_iterations = o.max_iterations.value_or(options.max_iterations);
  options.tolerance = o.tolerance.value_or(options.tolerance);
  if (o.form == "published") {
    options.steps = SmIcaOfflineOptions::Steps::published;
    options.eta = *o.eta;
    options.tau = *o.tau;
  }
  if (!o.lambda.empty()) options.lambda2 = lambda2_from_table(o.lambda, o.reading);
  return options;
}

Outcome run_sm_ica_offline(const Recording& X, const MethodOptions& o) {
  SmIcaOfflineOptions options = sm_ica_offline_options(o);
  if (o.progress) {
    options.watch = [&](Index iteration, const Matrix<double>&, const Matrix<double>&) {
      if (iteration % 64 != 0) return;
      o.progress(static_cast<double>(iteration) / static_cast<double>(options.max_iterations));
    };
  }
  SmIcaOffline run = sm_ica_offline(Frames<double>(gather(X)), options);
  if (run.status == OfflineStatus::diverged) {
    throw Diverged("sm-ica-offline diverged at iteration " + std::to_string(run.iterations) +
                   "; give a smaller eta, or use its natural form, which cannot diverge");
  }
  return done(std::move(run.model), o);
}

}  // namespace demix
