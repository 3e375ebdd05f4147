#include "demix/methods.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "core/counted_recording.hpp"
#include "demix/rules/amari.hpp"
#include "demix/rules/bcm.hpp"
#include "demix/rules/bio_nica.hpp"
#include "demix/rules/easi.hpp"
#include "demix/rules/error_gated_hebbian.hpp"
#include "demix/rules/herault_jutten.hpp"
#include "demix/rules/infomax.hpp"
#include "demix/rules/nonlinear_oja.hpp"
#include "demix/rules/oja_subspace.hpp"
#include "demix/rules/orica.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "methods/batch_methods.hpp"
#include "methods/networks.hpp"
#include "methods/rule_separator.hpp"
#include "methods/run_online.hpp"
#include "methods/stability.hpp"

namespace demix {
namespace {

constexpr std::array<Form, 1> one_form{{{"default", 0}}};
constexpr std::array<Form, 8> fastica_forms{{{"logcosh", 0},
                                             {"exp", 0},
                                             {"cube", 0},
                                             {"skew", 0},
                                             {"logcosh-deflation", 0},
                                             {"exp-deflation", 0},
                                             {"cube-deflation", 0},
                                             {"skew-deflation", 0}}};
constexpr std::array<Form, 2> picard_forms{{{"orthogonal", 0}, {"free", 0}}};
constexpr std::array<Form, 2> jade_forms{{{"jade", 0}, {"k-jade", 0}}};
// The natural form whitens by eigenvectors and puts out an average of M^-1 W: neither is a synapse's
// business. Its synapses hear two numbers, ||y||^2 and ||h||^2.
constexpr std::array<Form, 3> sm_ica_forms{
    {{"natural", 0, Locality::synapses}, {"local", 0, Locality::full}, {"published", 2e-5, Locality::full}}};
constexpr std::array<Form, 2> offline_forms{{{"natural", 0}, {"published", 5e-3}}};

// A learning rule's row: what can be known from its type is.
template <typename R>
constexpr Method rule(Method row) {
  row.online = true;
  row.locality = std::is_base_of_v<LocalRule<R>, R> ? Locality::full : Locality::none;
  row.forms = R::forms;
  row.tau = R::tau;
  row.square = R::square;
  row.make = make_rule<R>;
  return row;
}

constexpr std::string_view paper = "Bahroun, Chklovskii, Sengupta 2021";
constexpr std::string_view distinct = "any, of distinct kurtosis";
constexpr std::string_view not_gaussian = "any but Gaussian";
constexpr std::string_view gaussians = "two or more Gaussian sources";

const auto table = std::to_array<Method>({
    {.name = "auto",
     .sources = not_gaussian,
     .cannot = gaussians,
     .reference = "the best of fobi, jade, and fastica or picard, by the entropy of the outputs",
     .forms = one_form,
     .passes = 15,
     .batch_ica = true,
     .batch = run_auto},
    {.name = "fastica",
     .sources = not_gaussian,
     .cannot = gaussians,
     .reference = "Hyvarinen 1999",
     .forms = fastica_forms,
     .passes = 12,
     .takes_start = true,
     .takes_tolerance = true,
     .batch_ica = true,
     .batch = run_fastica},
    {.name = "picard",
     .sources = not_gaussian,
     .cannot = gaussians,
     .reference = "Ablin, Cardoso, Gramfort 2018",
     .forms = picard_forms,
     .passes = 40,
     .takes_start = true,
     .takes_tolerance = true,
     .batch_ica = true,
     .batch = run_picard},
    {.name = "fobi",
     .sources = distinct,
     .cannot = "sources of equal kurtosis",
     .reference = "Cardoso 1989",
     .forms = one_form,
     .by_kurtosis = true,
     .passes = 3,
     .takes_weight = true,
     .batch_ica = true,
     .batch = run_fobi},
    {.name = "jade",
     .sources = not_gaussian,
     .cannot = "two or more Gaussian sources; more than 64 components (k-jade 128)",
     .reference = "Cardoso, Souloumiac 1993; k-jade: Miettinen et al. 2013",
     .forms = jade_forms,
     .passes = 4,
     .takes_tolerance = true,
     .batch_ica = true,
     .batch = run_jade},
    {.name = "sm-ica-offline",
     .sources = distinct,
     .cannot = "sources of equal kurtosis",
     .reference = paper,
     .forms = offline_forms,
     .tau = 0.75,
     .by_kurtosis = true,
     .takes_lambda = true,
     .takes_weight = true,
     .takes_tolerance = true,
     .batch = run_sm_ica_offline},
    {.name = "sm-ica",
     .online = true,
     .input = Input::centred,
     .sources = distinct,
     .cannot = "sources of equal kurtosis; unshuffled recordings; most data, in the form published",
     .reference = paper,
     .forms = sm_ica_forms,
     .tau = 1.5,
     .by_kurtosis = true,
     .takes_lambda = true,
     .takes_weight = true,
     .is_network = true,
     .make = make_sm_ica},
    {.name = "stream",
     .online = true,
     .sources = not_gaussian,
     .cannot = gaussians,
     .reference = "demix: FastICA in one pass",
     .forms = one_form,
     .contrast = Contrast::logcosh,
     .make = make_stream},
    {.name = "recursive-fobi",
     .online = true,
     .sources = distinct,
     .cannot = "sources of equal kurtosis; more than 64 channels; its outputs change places while it learns",
     .reference = "Cardoso 1989, on running moments",
     .forms = one_form,
     .by_kurtosis = true,
     .make = make_recursive_fobi},
    rule<rules::Orica>({.name = "orica",
                        .input = Input::centred,
                        .sources = "sub- and super-Gaussian",
                        .cannot = "recordings in time order, unless shuffled",
                        .reference = "Hsu et al. 2016",
                        .takes_sub_gaussian = true}),
    rule<rules::Infomax>(
        {.name = "infomax",
         .input = Input::centred,
         .sources = "both (extended), or one kind by form",
         .cannot = "the other kind, in the forms for one; coloured data slows all forms but extended",
         .reference = "Bell, Sejnowski 1995; Lee et al. 1999"}),
    rule<rules::Easi>({.name = "easi",
                       .input = Input::centred,
                       .sources = "sub- or super-Gaussian, by form",
                       .cannot = "sub- and super-Gaussian together",
                       .reference = "Cardoso, Laheld 1996"}),
    rule<rules::Amari>({.name = "amari",
                        .input = Input::centred,
                        .sources = "sub-Gaussian",
                        .cannot = "super-Gaussian; the polynomial diverges on most data",
                        .reference = "Amari, Cichocki, Yang 1996"}),
    rule<rules::HeraultJutten>({.name = "hj",
                                .input = Input::centred,
                                .sources = "sub-Gaussian",
                                .cannot = "super-Gaussian",
                                .reference = "Jutten, Herault 1991"}),
    rule<rules::NonlinearOja>({.name = "nonlinear-oja",
                               .input = Input::white,
                               .sources = "sub-Gaussian",
                               .cannot = "super-Gaussian; input that is not white",
                               .reference = "Oja 1997"}),
    rule<rules::ErrorGatedHebbian>({.name = "eghr",
                                    .input = Input::white,
                                    .sources = "all Laplace or all uniform, by form",
                                    .cannot = "sources of different densities",
                                    .reference = "Isomura, Toyoizumi 2016"}),
    rule<rules::BioNica>({.name = "bio-nica",
                          .sources = "nonnegative, often near 0",
                          .cannot = "sources of both signs; ill-conditioned mixings, unless whitened",
                          .reference = "Lipshutz, Pehlevan, Chklovskii 2022"}),
    rule<rules::OjaSubspace>({.name = "oja-subspace",
                              .input = Input::centred,
                              .finds = Finds::subspace,
                              .sources = "none: principal subspace",
                              .cannot = "sources of any kind",
                              .reference = "Oja 1992"}),
    rule<rules::PrincipalSubspace>({.name = "psp",
                                    .input = Input::centred,
                                    .finds = Finds::subspace,
                                    .sources = "none: principal subspace",
                                    .cannot = "sources of any kind",
                                    .reference = "Pehlevan, Sengupta, Chklovskii 2018"}),
    rule<rules::Bcm>({.name = "bcm",
                      .input = Input::white,
                      .finds = Finds::features,
                      .sources = "none: skewed features, redundantly",
                      .cannot = "sources of any kind",
                      .reference = "Bienenstock, Cooper, Munro 1982"}),
});

void refuse(bool given, std::string_view method, const char* option, const std::string& of_form = {}) {
  if (given) throw NoSuchOption(method, option, of_form);
}

}  // namespace

std::string_view input_name(Input input) {
  return input == Input::any ? "any" : input == Input::centred ? "centred" : "white";
}

std::string_view finds_name(Finds finds) {
  return finds == Finds::sources ? "sources" : finds == Finds::subspace ? "subspace" : "features";
}

std::string_view locality_name(Locality locality) {
  return locality == Locality::none ? "no" : locality == Locality::synapses ? "synapses" : "yes";
}

const Form& Method::form_named(std::string_view wanted) const {
  std::string known;
  for (const Form& f : forms) {
    if (wanted.empty() || f.name == wanted) return f;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  throw NoSuchForm("method " + std::string(name) + " has no form '" + std::string(wanted) + "'; it has " +
                   known);
}

MethodOptions Method::checked(MethodOptions o) const {
  const Form& chosen = form_named(o.form);
  const bool has_eta = chosen.eta > 0;
  const std::string of_form = has_eta || forms.size() == 1 ? "" : " in its form " + std::string(chosen.name);
  refuse(o.eta && !has_eta, name, "eta", of_form);
  refuse(o.tau && !(has_eta && tau > 0), name, "tau", of_form);
  refuse(o.weight && !takes_weight, name, "activity_weight");
  refuse(!o.lambda.empty() && !takes_lambda, name, "lambda");
  refuse(o.sub_gaussian && !takes_sub_gaussian, name, "sub_gaussian");
  using Dynamics = SmIcaNetworkOptions::Dynamics;
  refuse(o.dynamics && !(is_network && has_eta), name, "dynamics", is_network ? of_form : "");
  refuse(o.autapses && !(is_network && has_eta), name, "autapses", is_network ? of_form : "");
  refuse(o.autapses && o.dynamics != Dynamics::iterate, name, "autapses",
         " unless its dynamics are iterated");
  refuse(o.trace != nullptr && !is_network, name, "trace");
  refuse(o.order && !batch_ica, name, "order");
  refuse(o.stability > 0 && !batch_ica, name, "stability");
  refuse(o.start && !takes_start, name, "start");
  refuse(o.max_iterations && !takes_tolerance, name, "max_iterations");
  refuse(o.tolerance && !takes_tolerance, name, "tolerance");
  if (online) {
    refuse(o.share > 0 && !o.whiten.value_or(false), name, "components",
           " as a share, unless it whitens its input");
  } else {
    refuse(o.passes != 1, name, "passes");
    refuse(o.shuffle, name, "shuffle");
    refuse(o.online_output, name, "online_output");
    refuse(o.whiten.has_value(), name, "whiten");
  }
  if (forms.size() > 1) o.form = chosen.name;
  if (has_eta && !o.eta) o.eta = chosen.eta;
  if (has_eta && tau > 0 && !o.tau) o.tau = tau;
  return o;
}

Outcome Method::run(const Frames<double>& X, const MethodOptions& o) const {
  return run(MatrixRecording<double>(X), o);
}

Outcome Method::run(const Recording& X, const MethodOptions& o) const {
  const MethodOptions all = checked(o);
  refuse(X.weights() && !batch_ica, name, "frame_weights");
  if (online) return run_online(*this, X, all);
  const CountedRecording counted(X, [&](double done) {
    if (o.progress && passes > 0) o.progress(std::min(0.97, done / passes));
  });
  Outcome out = batch(counted, all);
  if (o.stability > 0) find_stability(*this, X, all, out.model);
  return out;
}

std::unique_ptr<OnlineSeparator> Method::start(Index inputs, Index outputs, const MethodOptions& o) const {
  MethodOptions own = checked(o);
  own.seed = ~o.seed;
  return make(inputs, outputs, own);
}

std::span<const Method> methods() { return table; }

const Method& own_rule() {
  static const Method method{.name = "own-rule",
                             .online = true,
                             .input = Input::centred,
                             .sources = "what the rule does",
                             .reference = "a rule of one's own",
                             .forms = one_form,
                             .make = [](Index inputs, Index outputs, const MethodOptions& o) {
                               if (!o.rule) throw std::invalid_argument("rule: expected one, got none");
                               return o.rule(inputs, outputs, o.seed);
                             }};
  return method;
}

const Method& method_named(std::string_view name) {
  std::string known;
  for (const Method& m : table) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + std::string(m.name);
  }
  throw std::invalid_argument("method: expected one of " + known + ", got '" + std::string(name) + "'");
}

}  // namespace demix
