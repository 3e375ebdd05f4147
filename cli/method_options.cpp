#include "method_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>
#include <optional>

#include "demix/threads.hpp"

namespace demix::cli {
namespace {

// What is wrong with it as a number of components, or as a share of the power.
std::string components_complaint(const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  const bool whole = !text.empty() && end == text.c_str() + text.size();
  if (whole && value > 0 && value <= 1 << 20 && (value < 1 || value == std::floor(value))) return "";
  return "'" + text + "': expected a whole number of components, or a share between 0 and 1";
}

// Of 12.5-14 the two numbers, in order.
std::optional<FitOptions::TimeSpan> time_span(const std::string& text) {
  const auto number = [](const std::string& part) -> std::optional<double> {
    char* end = nullptr;
    const double value = std::strtod(part.c_str(), &end);
    const bool whole = !part.empty() && end == part.c_str() + part.size();
    return whole && value >= 0 && value < 1e15 ? std::optional(value) : std::nullopt;
  };
  const auto dash = text.find('-');
  if (dash == std::string::npos) return {};
  const auto from = number(text.substr(0, dash));
  const auto to = number(text.substr(dash + 1));
  if (!from || !to || *to <= *from) return {};
  return FitOptions::TimeSpan{*from, *to};
}

std::string time_span_complaint(const std::string& text) {
  if (text == "annotations" || text == "auto" || time_span(text)) return "";
  return "'" + text + "': expected from-to, as 12.5-14, annotations, or auto";
}

bool options_conflict(const MethodChoice& choice) {
  return choice.filters.decimate > 1 && !choice.frame_weights.empty();
}

void add_learning_options(Arguments& command, MethodChoice& choice) {
  const std::string group = "Data to learn from (the model applies to the unfiltered recording)";
  add_channel_choice(command, choice.pick, choice.exclude, group);
  command
      .option(
          "--bad-channels", choice.bad_channels,
          "auto: find and exclude channels that are flat, far larger than the others, or unlike all others "
          "(default: off)")
      .one_of({"auto"})
      .group(group);
  command
      .option("--reference", choice.reference,
              "average: subtract the mean of the chosen channels from each (default: keep the reference of "
              "the recording)")
      .one_of({"average"})
      .group(group);
  add_filters(command, choice.filters, group);
  command
      .option("--decimate", choice.filters.decimate,
              "Learn from every N-th frame, after a low-pass filter at 0.8 of the new Nyquist frequency "
              "(default 1)")
      .range(1, 1000)
      .group(group);
}

}  // namespace

void add_channel_choice(Arguments& command, std::vector<std::string>& pick, std::vector<std::string>& exclude,
                        const std::string& group) {
  command
      .option("--pick", pick,
              "Channels to learn from, comma-separated: types (eeg, eog, ecg, emg, misc, status), names, "
              "patterns such as F*, or all (default all; in EEG files the EEG channels). `apply` leaves the "
              "other channels unchanged")
      .comma_separated()
      .one_at_a_time()
      .value("CHANNEL")
      .group(group);
  command.option("--exclude", exclude, "Channels not to learn from, as for --pick")
      .comma_separated()
      .one_at_a_time()
      .value("CHANNEL")
      .group(group);
}

void add_filters(Arguments& command, FilterOptions& filters, const std::string& group) {
  command.option("--highpass", filters.highpass, "High-pass filter: cutoff in Hz (default none)")
      .value("HZ")
      .positive()
      .group(group);
  command.option("--lowpass", filters.lowpass, "Low-pass filter: cutoff in Hz (default none)")
      .value("HZ")
      .positive()
      .group(group);
  command
      .option("--notch", filters.notches,
              "Notch filters: frequencies in Hz, comma-separated, for example 50,100")
      .comma_separated()
      .one_at_a_time()
      .value("HZ")
      .group(group);
}

void add_components(Arguments& command, MethodChoice& choice) {
  command
      .option("--components", choice.components,
              "Number of principal components to keep or, below 1, the share of the power to keep (default "
              "all)")
      .check(components_complaint, "N");
}

void add_order(Arguments& command, MethodChoice& choice, const std::string& scope) {
  command
      .option("--order", choice.order,
              "Order of the components, largest first: by kurtosis or by explained power" + scope +
                  " (default kurtosis)")
      .one_of({"kurtosis", "power"});
}

void add_learned_frames(Arguments& command, MethodChoice& choice, const std::string& scope) {
  command
      .option(
          "--bad", choice.bad,
          "Segments not to learn from, comma-separated. FROM-TO in seconds, for example 10-12.5,60-61 (in "
          "frames, if the rate is unknown); annotations: all whose text begins with bad; auto: seconds in "
          "which channels are far larger than usual. The model applies to these segments, too")
      .comma_separated()
      .one_at_a_time()
      .check(time_span_complaint, "FROM-TO");
  command
      .option("--frame-weights", choice.frame_weights,
              "File with one weight per frame; frames of weight 0 are not learned from" + scope)
      .value("FILE");
}

void add_method_options(Arguments& command, MethodChoice& choice) {
  add_learning_options(command, choice);
  std::vector<std::string> names;
  for (const Method& m : methods()) names.emplace_back(m.name);
  command
      .option("-m,--method", choice.method,
              "Method, see `demix methods`. auto tries several and reports which one it chose and why")
      .value("NAME")
      .one_of(names)
      .show_default();
  add_components(command, choice);
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  command
      .option("--activity-weight", choice.activity_weight,
              "Weight of a frame as a function of its activity (fobi, sm-ica, sm-ica-offline). square: as in "
              "the paper; norm, log, reciprocal: less influence of outliers (default square)")
      .one_of(weights);
  command.renamed("--weight", "--activity-weight");
  command.option("--seed", choice.options.seed, "Random seed").show_default();
  command
      .option("--form", choice.options.form,
              "Variant of the method, see `demix methods`: its nonlinearity or, for sm-ica, natural, local "
              "or published")
      .value("NAME");
  command
      .option("--eta", choice.options.eta,
              "Learning rate (default: see `demix methods`; not all forms have one)")
      .positive();
  command
      .option("--tau", choice.options.tau,
              "Ratio of the learning rates of W and M (default: see `demix methods`)")
      .positive();
  command
      .option("--dynamics", choice.dynamics,
              "sm-ica, form published. solve: solve M y = c for the outputs (default); iterate: the neural "
              "dynamics y <- y + gamma (c - M y) until they converge")
      .one_of({"solve", "iterate"});
  command
      .option("--autapses", choice.autapses,
              "With --dynamics iterate: the diagonal of M is self-synapses (yes, default) or the leak of the "
              "neurons (no)")
      .one_of({"yes", "no"});
  command
      .option("--whiten", choice.whiten,
              "Online methods: whiten the input first. Methods that need white input require this option "
              "unless the input is white")
      .one_of({"yes", "no"});
  command
      .option("--sub-gaussian", choice.options.sub_gaussian,
              "orica: number of sub-Gaussian sources (default estimated)")
      .range(0, 1 << 20);
  command.option("--lambda", choice.options.lambda, "sm-ica: Lambda as in the paper's table, comma-separated")
      .comma_separated()
      .one_at_a_time();
  command
      .option("--lambda-reading", choice.reading,
              "Meaning of the values of --lambda: lambda^-2, lambda or lambda^-1")
      .one_of({"inverse-square", "direct", "inverse"})
      .show_default();
  add_order(command, choice, ". Batch methods only");
  add_learned_frames(command, choice, ". Batch methods only");
  command.renamed("--weights", "--frame-weights");
  command
      .option("--stability", choice.options.stability,
              "Repeat the separation N times on two random halves of the frames, and report how well each "
              "component is found again, from 0 to 1. Batch methods only")
      .range(0, 10000);
  command.option("--threads", choice.threads, "Number of threads (default one per core)").range(1, 1024);
  command.option("--passes", choice.options.passes, "Online methods: number of passes over the data")
      .range(1, 1 << 30)
      .show_default();
  command.flag("--shuffle", choice.options.shuffle, "Online methods: shuffle the frames before every pass");
}

FitOptions fit_options(const MethodChoice& choice) {
  FitOptions fit;
  fit.method = choice.method;
  fit.frame_weights = choice.frame_weights;
  for (const std::string& text : choice.bad) {
    if (const auto span = time_span(text)) {
      fit.bad.push_back(*span);
    } else {
      (text == "auto" ? fit.find_bad : fit.bad_annotations) = true;
    }
  }
  fit.pick = choice.pick;
  fit.exclude = choice.exclude;
  fit.find_bad_channels = choice.bad_channels == "auto";
  fit.average_reference = choice.reference == "average";
  fit.filters = choice.filters;
  fit.note = [](const std::string& text) { message("note: {}", as_typed(text)); };
  if (options_conflict(choice)) {
    throw UsageError("--decimate", "cannot be with --frame-weights, which are of all frames");
  }
  MethodOptions& options = fit.options;
  options = choice.options;
  if (!choice.activity_weight.empty()) options.weight = weight_named(choice.activity_weight);
  if (!choice.whiten.empty()) options.whiten = choice.whiten == "yes";
  if (!choice.order.empty()) options.order = order_named(choice.order);
  using Dynamics = SmIcaNetworkOptions::Dynamics;
  if (!choice.dynamics.empty()) {
    options.dynamics = choice.dynamics == "iterate" ? Dynamics::iterate : Dynamics::solve;
  }
  if (!choice.autapses.empty()) options.autapses = choice.autapses == "yes";
  options.reading = lambda_reading_named(choice.reading);
  if (choice.components < 1) {
    options.share = choice.components;
  } else {
    options.components = static_cast<Index>(choice.components);
  }
  if (options.online_output && !choice.bad.empty()) {
    throw UsageError("--bad",
                     "cannot be with --online-output, which holds only frames that were learned from");
  }
  if (choice.threads > 0) limit_threads(choice.threads);
  return fit;
}

}  // namespace demix::cli
