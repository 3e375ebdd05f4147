#include "method_options.hpp"

#include <fmt/format.h>

#include <cmath>
#include <cstdlib>

#include "console.hpp"

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

}  // namespace

void add_method_options(Arguments& command, MethodChoice& choice) {
  std::vector<std::string> names;
  for (const Method& m : methods()) names.emplace_back(m.name);
  command
      .option("-m,--method", choice.method,
              "One of those `demix methods` lists; auto picks a sound one and says why")
      .one_of(names)
      .show_default();
  command
      .option("--components", choice.components,
              "Keep at most this many principal components, or, below 1, as few as hold this share of the "
              "power (default: all there are)")
      .check(components_complaint, "N or share");
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  command
      .option("--weight", choice.weight,
              "Weight of a frame: square (the paper's), or norm, log, reciprocal, which "
              "resist outliers")
      .one_of(weights);
  command.option("--seed", choice.options.seed, "Of random starts").show_default();
  command.option(
      "--form", choice.options.form,
      "Variant of the method, as `demix methods` lists them: its nonlinearity, or for sm-ica natural "
      "(stable, nothing to tune) or published (the paper's steps)");
  command.option("--eta", choice.options.eta, "Learning rate, where the form has one to choose").positive();
  command.option("--tau", choice.options.tau, "Ratio of the learning rates of W and M, where there are both")
      .positive();
  command
      .option("--whiten", choice.whiten,
              "Online methods: whiten the input first. Those that need it white ask if it is not")
      .one_of({"yes", "no"});
  command
      .option("--sub-gaussian", choice.options.sub_gaussian,
              "orica: how many sources are sub-Gaussian (default: found while it learns)")
      .range(0, 1 << 20);
  command.option("--lambda", choice.options.lambda, "Values of the paper's Lambda table, comma-separated")
      .comma_separated()
      .one_at_a_time();
  command.option("--lambda-reading", choice.reading, "What --lambda holds: lambda^-2, lambda, or lambda^-1")
      .one_of({"inverse-square", "direct", "inverse"})
      .show_default();
  command.option("--passes", choice.options.passes, "Online methods: times over the data")
      .range(1, 1 << 30)
      .show_default();
  command.flag("--shuffle", choice.options.shuffle,
               "Online methods: a new random order of the frames in every pass");
}

Outcome run_method(const MethodChoice& choice, const Recording& input,
                   const std::vector<std::string>& channels, const std::string& name) {
  Progress bar("separating");
  MethodOptions options = choice.options;
  options.progress = [&](double share) { bar(share); };
  if (!choice.weight.empty()) options.weight = weight_named(choice.weight);
  if (!choice.whiten.empty()) options.whiten = choice.whiten == "yes";
  options.reading = lambda_reading_named(choice.reading);
  if (choice.components < 1) {
    options.share = choice.components;
  } else {
    options.components = static_cast<Index>(choice.components);
  }
  Outcome outcome;
  try {
    outcome = method_named(choice.method).run(input, options);
  } catch (const NoSuchOption&) {
    throw;
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", name, e.what()));
  }
  if (!outcome.ok) throw Failure(fmt::format("{}: {}", name, outcome.failure));
  outcome.model.names = channels;
  return outcome;
}

}  // namespace demix::cli
