#include "demix/methods.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <type_traits>

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
constexpr std::array<Form, 2> sm_ica_forms{{{"natural", 0}, {"published", 2e-5}}};
constexpr std::array<Form, 2> offline_forms{{{"natural", 0}, {"published", 5e-3}}};

// A learning rule's row: what can be known from its type is.
template <typename R>
constexpr Method rule(std::string_view name, Input input, Finds finds, std::string_view sources,
                      std::string_view cannot, std::string_view reference, unsigned options = 0) {
  return {name,    true,        std::is_base_of_v<LocalRule<R>, R>,
          input,   finds,       sources,
          cannot,  reference,   R::forms,
          R::tau,  R::square,   options,
          nullptr, make_rule<R>};
}

constexpr std::string_view paper = "Bahroun, Chklovskii, Sengupta 2021";
constexpr std::string_view distinct = "any, of distinct kurtosis";
constexpr auto sources = Finds::sources;
constexpr unsigned by_kurtosis = Method::fobi_optimum;
constexpr unsigned workhorse = Method::workhorse;

const auto table = std::to_array<Method>({
    {"auto", false, false, Input::any, sources, "any but Gaussian", "two or more Gaussian sources",
     "fobi; where that is not surely enough fastica or picard", one_form, 0, false, workhorse, run_auto,
     nullptr},
    {"fastica", false, false, Input::any, sources, "any but Gaussian", "two or more Gaussian sources",
     "Hyvarinen 1999", fastica_forms, 0, false, workhorse | Method::takes_start, run_fastica, nullptr},
    {"picard", false, false, Input::any, sources, "any but Gaussian", "two or more Gaussian sources",
     "Ablin, Cardoso, Gramfort 2018", picard_forms, 0, false, workhorse | Method::takes_start, run_picard,
     nullptr},
    {"fobi", false, false, Input::any, sources, distinct, "sources of equal kurtosis", "Cardoso 1989",
     one_form, 0, false, Method::takes_weight | by_kurtosis | workhorse, run_fobi, nullptr},
    {"jade", false, false, Input::any, sources, "any but Gaussian",
     "two or more Gaussian sources; more than 64 components (k-jade 128)",
     "Cardoso, Souloumiac 1993; k-jade: Miettinen et al. 2013", jade_forms, 0, false, workhorse, run_jade,
     nullptr},
    {"sm-ica-offline", false, false, Input::any, sources, distinct, "sources of equal kurtosis", paper,
     offline_forms, 0.75, false, Method::takes_weight | Method::takes_lambda | by_kurtosis,
     run_sm_ica_offline, nullptr},
    {"sm-ica", true, true, Input::centred, sources, distinct,
     "sources of equal kurtosis; recordings in time order (--shuffle); in form published: most data", paper,
     sm_ica_forms, 1.5, false, Method::takes_lambda | by_kurtosis, nullptr, make_sm_ica},
    {"stream", true, false, Input::any, sources, distinct,
     "sources of equal kurtosis; above 32 channels, time order costs accuracy",
     "demix: running fourth moments", one_form, 0, false, by_kurtosis, nullptr, make_stream},
    {"recursive-fobi", true, false, Input::any, sources, distinct,
     "the same; its outputs change places while it learns", "Cardoso 1989, on running moments", one_form, 0,
     false, by_kurtosis, nullptr, make_recursive_fobi},
    rule<rules::Orica>("orica", Input::centred, sources, "sub- and super-Gaussian",
                       "recordings in time order (--shuffle)", "Hsu et al. 2016", Method::takes_sub_gaussian),
    rule<rules::Infomax>("infomax", Input::centred, sources, "both (extended), or one kind by form",
                         "the other kind, in the forms for one; coloured data slows all forms but extended",
                         "Bell, Sejnowski 1995; Lee et al. 1999"),
    rule<rules::Easi>("easi", Input::centred, sources, "sub- or super-Gaussian, by form",
                      "sub- and super-Gaussian together", "Cardoso, Laheld 1996"),
    rule<rules::Amari>("amari", Input::centred, sources, "sub-Gaussian",
                       "super-Gaussian; the polynomial diverges on most data", "Amari, Cichocki, Yang 1996"),
    rule<rules::HeraultJutten>("hj", Input::centred, sources, "sub-Gaussian", "super-Gaussian",
                               "Jutten, Herault 1991"),
    rule<rules::NonlinearOja>("nonlinear-oja", Input::white, sources, "sub-Gaussian",
                              "super-Gaussian; input that is not white", "Oja 1997"),
    rule<rules::ErrorGatedHebbian>("eghr", Input::white, sources, "all Laplace or all uniform, by form",
                                   "sources of different densities", "Isomura, Toyoizumi 2016"),
    rule<rules::BioNica>("bio-nica", Input::any, sources, "nonnegative, often near 0",
                         "sources of both signs; ill-conditioned mixings (--whiten yes)",
                         "Lipshutz, Pehlevan, Chklovskii 2022"),
    rule<rules::OjaSubspace>("oja-subspace", Input::centred, Finds::subspace, "none: principal subspace",
                             "separate sources", "Oja 1992"),
    rule<rules::PrincipalSubspace>("psp", Input::centred, Finds::subspace, "none: principal subspace",
                                   "separate sources", "Pehlevan, Sengupta, Chklovskii 2018"),
    rule<rules::Bcm>("bcm", Input::white, Finds::features, "none: skewed features, redundantly",
                     "separate sources", "Bienenstock, Cooper, Munro 1982"),
});

void refuse(bool given, std::string_view option, std::string_view method) {
  if (given) {
    throw NoSuchOption("method " + std::string(method) + " has no option " + std::string(option));
  }
}

}  // namespace

std::string_view input_name(Input input) {
  return input == Input::any ? "any" : input == Input::centred ? "centred" : "white";
}

std::string_view finds_name(Finds finds) {
  return finds == Finds::sources ? "sources" : finds == Finds::subspace ? "subspace" : "features";
}

const Form& Method::form_named(std::string_view wanted) const {
  std::string known;
  for (const Form& f : forms) {
    if (wanted.empty() || f.name == wanted) return f;
    known += (known.empty() ? "" : ", ") + std::string(f.name);
  }
  throw NoSuchOption("method " + std::string(name) + " has no form '" + std::string(wanted) + "'; it has " +
                     known);
}

MethodOptions Method::checked(MethodOptions o) const {
  const Form& chosen = form_named(o.form);
  const bool has_eta = chosen.eta > 0;
  const std::string of_form = has_eta || forms.size() == 1 ? "" : " in its form " + std::string(chosen.name);
  refuse(o.eta && !has_eta, "--eta" + of_form, name);
  refuse(o.tau && !(has_eta && tau > 0), "--tau" + of_form, name);
  refuse(o.weight && (options & takes_weight) == 0, "--weight", name);
  refuse(!o.lambda.empty() && (options & takes_lambda) == 0, "--lambda", name);
  refuse(o.sub_gaussian && (options & takes_sub_gaussian) == 0, "--sub-gaussian", name);
  refuse(o.order && (options & workhorse) == 0, "--order", name);
  refuse(o.stability > 0 && (options & workhorse) == 0, "--stability", name);
  refuse(o.start && (options & takes_start) == 0, "start", name);
  if (online) {
    refuse(o.share > 0 && !o.whiten.value_or(false), "--components as a share without --whiten yes", name);
  } else {
    refuse(o.passes != 1, "--passes", name);
    refuse(o.shuffle, "--shuffle", name);
    refuse(o.live, "--live", name);
    refuse(o.whiten.has_value(), "--whiten", name);
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
  refuse(X.weights() && (options & workhorse) == 0, "--weights", name);
  if (online) return run_online(*this, X, all);
  Outcome out = batch(X, all);
  if (out.ok && o.stability > 0) find_stability(*this, X, all, out.model);
  return out;
}

std::unique_ptr<OnlineSeparator> Method::start(Index inputs, Index outputs, const MethodOptions& o) const {
  MethodOptions own = checked(o);
  own.seed = ~o.seed;
  return make(inputs, outputs, own);
}

std::span<const Method> methods() { return table; }

const Method& method_named(std::string_view name) {
  std::string known;
  for (const Method& m : table) {
    if (m.name == name) return m;
    known += (known.empty() ? "" : ", ") + std::string(m.name);
  }
  throw std::invalid_argument("method: expected one of " + known + ", got '" + std::string(name) + "'");
}

}  // namespace demix
