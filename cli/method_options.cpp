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
  const std::string group = "What is learned from; the model is one of the recording as it is";
  command
      .option("--pick", choice.pick,
              "Channels to learn from, comma-separated: types (eeg, eog, ecg, emg, misc, status), names, "
              "patterns "
              "as F*, or all (default all; of EEG files the EEG). `apply` keeps the others as they are")
      .comma_separated()
      .one_at_a_time()
      .value("CHANNEL")
      .group(group);
  command.option("--exclude", choice.exclude, "Channels not to learn from, as for --pick")
      .comma_separated()
      .one_at_a_time()
      .value("CHANNEL")
      .group(group);
  command
      .option(
          "--bad-channels", choice.bad_channels,
          "auto: find channels that are flat, much larger than the others or unlike all others, and leave "
          "them out (default: none are looked for)")
      .one_of({"auto"})
      .group(group);
  command
      .option("--reference", choice.reference,
              "average: each channel less the mean of all that are learned from (default: as they are)")
      .one_of({"average"})
      .group(group);
  command.option("--highpass", choice.filters.highpass, "Leave out what is slower than this, in Hz")
      .value("HZ")
      .positive()
      .group(group);
  command.option("--lowpass", choice.filters.lowpass, "Leave out what is faster than this, in Hz")
      .value("HZ")
      .positive()
      .group(group);
  command
      .option("--notch", choice.filters.notches,
              "Leave out these frequencies, in Hz, comma-separated: 50,100")
      .comma_separated()
      .one_at_a_time()
      .value("HZ")
      .group(group);
  command
      .option("--decimate", choice.filters.decimate,
              "Learn from one frame of this many, after a lowpass filter at 0.8 of what they can hold "
              "(default 1)")
      .range(1, 1000)
      .group(group);
}

}  // namespace

void add_method_options(Arguments& command, MethodChoice& choice) {
  add_learning_options(command, choice);
  std::vector<std::string> names;
  for (const Method& m : methods()) names.emplace_back(m.name);
  command
      .option("-m,--method", choice.method,
              "Method, see `demix methods`. auto compares several and says which it took and why")
      .value("NAME")
      .one_of(names)
      .show_default();
  command
      .option("--components", choice.components,
              "Keep this many principal components or, below 1, as many as hold this share of the power "
              "(default all)")
      .check(components_complaint, "N or share");
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  command
      .option("--activity-weight", choice.activity_weight,
              "Weight of a frame as a function of its activity (fobi, sm-ica, sm-ica-offline). square is the "
              "paper's; norm, log and reciprocal resist outliers (default square)")
      .one_of(weights);
  command.renamed("--weight", "--activity-weight");
  command.option("--seed", choice.options.seed, "Random seed").show_default();
  command
      .option("--form", choice.options.form,
              "Variant of the method, see `demix methods`: its nonlinearity or, for sm-ica, natural, local "
              "or published")
      .value("NAME");
  command.option("--eta", choice.options.eta, "Learning rate of forms that have one").positive();
  command.option("--tau", choice.options.tau, "Ratio of the learning rates of W and M").positive();
  command
      .option("--dynamics", choice.dynamics,
              "sm-ica in its form published: solve M y = c for the outputs (default), or iterate the neural "
              "dynamics y <- y + gamma (c - M y) until they settle")
      .one_of({"solve", "iterate"});
  command
      .option(
          "--autapses", choice.autapses,
          "With --dynamics iterate: M's diagonal as synapses of the neurons onto themselves (default: yes) "
          "or as their leak")
      .one_of({"yes", "no"});
  command
      .option("--whiten", choice.whiten,
              "Online methods: whiten the input first. Methods that need white input ask for this option")
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
              "What the values of --lambda are: lambda^-2, lambda or lambda^-1")
      .one_of({"inverse-square", "direct", "inverse"})
      .show_default();
  command
      .option("--order", choice.order,
              "Order of the components, largest first: by kurtosis or by explained power. Batch methods only "
              "(default kurtosis)")
      .one_of({"kurtosis", "power"});
  command
      .option(
          "--bad", choice.bad,
          "Segments not to learn from, as 10-12.5,60-61 in seconds (in frames, if there is no rate), or "
          "annotations: those whose text begins with bad, or auto: seconds in which channels are many times "
          "as large as usual. They are separated all the same")
      .comma_separated()
      .one_at_a_time()
      .check(time_span_complaint, "from-to");
  command
      .option("--frame-weights", choice.frame_weights,
              "File of one weight per frame; 0 = not learned from. Batch methods only")
      .value("FILE");
  command.renamed("--weights", "--frame-weights");
  command
      .option("--stability", choice.options.stability,
              "Separate two random halves of the frames this many times, and report how well each component "
              "is found again: 1 = always. Batch methods only")
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
  if (options.live && !choice.bad.empty()) {
    throw UsageError("--bad", "cannot be with --live, which is of the frames that were learned from");
  }
  if (choice.threads > 0) limit_threads(choice.threads);
  return fit;
}

}  // namespace demix::cli
