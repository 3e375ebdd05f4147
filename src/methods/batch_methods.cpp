#include "methods/batch_methods.hpp"

#include "demix/fobi.hpp"
#include "demix/sm_ica_offline.hpp"
#include "methods/record.hpp"

namespace demix {
Outcome run_fobi(const Frames<double>& X, const MethodOptions& o) {
  FobiOptions options;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
  options.progress = o.progress;
  Outcome out{true, {}, fobi(X, options), {}};
  record(out.model, o);
  return out;
}

Outcome run_sm_ica_offline(const Frames<double>& X, const MethodOptions& o) {
  SmIcaOfflineOptions options;
  options.seed = o.seed;
  options.weight = o.weight.value_or(Weight::square);
  options.whitening.components = o.components;
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
  SmIcaOffline run = sm_ica_offline(X, options);
  if (run.status == OfflineStatus::diverged) {
    return {false,
            "sm-ica-offline diverged at iteration " + std::to_string(run.iterations) +
                "; give a smaller --eta, or --form natural, which cannot diverge",
            {},
            {}};
  }
  record(run.model, o);
  return {true, {}, std::move(run.model), {}};
}

}  // namespace demix
