#include "demix/merge_parts.hpp"

#include "demix/jade.hpp"
#include "demix/sm_ica_offline.hpp"
#include "methods/batch_methods.hpp"
#include "methods/model_options.hpp"

namespace demix {

bool takes_sums(const Method& method) {
  return method.name == "fobi" || method.name == "jade" || method.name == "sm-ica-offline";
}

Outcome merge_parts(const Method& method, const MethodOptions& given,
                    const std::function<void(const std::function<void(const PartMoments&)>&)>& visit) {
  if (!takes_sums(method)) {
    throw std::invalid_argument("method: expected fobi, jade or sm-ica-offline, got " +
                                std::string(method.name));
  }
  const MethodOptions o = method.checked(given);
  const bool offline = method.name == "sm-ica-offline";
  if (offline && o.form == "published")
    throw NoSuchForm("method sm-ica-offline of sums has no form 'published'");
  if (o.weight.value_or(Weight::square) != Weight::square || o.stability > 0) {
    throw NoSuchOption(method.name, o.stability > 0 ? "stability" : "activity_weight", " of sums");
  }
  std::vector<PartSummary> summaries;
  visit([&](const PartMoments& part) { summaries.push_back(summary_of(part)); });
  MergedMoments all(summaries, {.components = o.components, .share = o.share});
  visit([&](const PartMoments& part) { all.add(part); });
  Rotation rotation;
  if (offline) {
    rotation = sm_ica_offline(all, sm_ica_offline_options(o));
  } else if (method.name == "jade") {
    rotation = jade(all, jade_options(o));
  } else {
    rotation = fobi(all);
  }
  Outcome out{describe(all, rotation, o.order.value_or(Order::kurtosis)), {}, {}};
  record_options(out.model, o);
  return out;
}

}  // namespace demix
