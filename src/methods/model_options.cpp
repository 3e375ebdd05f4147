#include "methods/model_options.hpp"

#include <array>
#include <charconv>

namespace demix {
namespace {

std::string text(double value) {  // the shortest that reads back the same
  std::array<char, 32> buffer{};
  return {buffer.data(), std::to_chars(buffer.data(), buffer.data() + buffer.size(), value).ptr};
}

}  // namespace

void record_options(Model& model, const MethodOptions& o) {
  if (!o.form.empty()) model.options["form"] = o.form;
  if (o.components > 0) model.options["components"] = std::to_string(o.components);
  if (o.share > 0) model.options["components"] = text(o.share);
  if (o.eta) model.options["eta"] = text(*o.eta);
  if (o.tau) model.options["tau"] = text(*o.tau);
  if (o.dynamics) {
    model.options["dynamics"] = *o.dynamics == SmIcaNetworkOptions::Dynamics::iterate ? "iterate" : "solve";
  }
  if (o.autapses) model.options["autapses"] = *o.autapses ? "yes" : "no";
  if (o.weight) model.options["weight"] = weight_name(*o.weight);
  if (o.sub_gaussian) model.options["sub_gaussian"] = std::to_string(*o.sub_gaussian);
  if (o.whiten) model.options["whiten"] = *o.whiten ? "yes" : "no";
  if (o.order) model.options["order"] = order_name(*o.order);
  if (o.max_iterations) model.options["max_iterations"] = std::to_string(*o.max_iterations);
  if (o.tolerance) model.options["tolerance"] = text(*o.tolerance);
  if (o.stability > 0) model.options["stability"] = std::to_string(o.stability);
  std::string lambda;
  for (const double v : o.lambda) lambda.append(lambda.empty() ? "" : ",").append(text(v));
  if (!lambda.empty()) model.options["lambda"] = lambda;
}

}  // namespace demix
