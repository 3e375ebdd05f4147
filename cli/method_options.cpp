#include "method_options.hpp"

#include <fmt/format.h>

#include <cmath>

#include "console.hpp"

namespace demix::cli {
namespace {

CLI::Validator components() {
  return CLI::Validator(
      [](const std::string& text) -> std::string {
        double value = 0;
        if (!CLI::detail::lexical_cast(text, value) || !(value > 0 && value <= 1 << 20) ||
            (value > 1 && value != std::floor(value))) {
          return "'" + text + "': expected a whole number of components, or a share between 0 and 1";
        }
        return {};
      },
      "N or share");
}

}  // namespace

void add_method_options(CLI::App& command, MethodChoice& choice) {
  std::vector<std::string> names;
  for (const Method& m : methods()) names.emplace_back(m.name);
  command
      .add_option("-m,--method", choice.method,
                  "One of those `demix methods` lists; auto picks a sound one and says why")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command
      .add_option(
          "--components", choice.components,
          "Keep at most this many principal components, or, below 1, as few as hold this share of the "
          "power (default: all there are)")
      ->check(components());
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  command
      .add_option("--weight", choice.weight,
                  "Weight of a frame: square (the paper's), or norm, log, reciprocal, which "
                  "resist outliers")
      ->check(CLI::IsMember(weights));
  command.add_option("--seed", choice.options.seed, "Of random starts")->capture_default_str();
  command.add_option(
      "--form", choice.options.form,
      "Variant of the method, as `demix methods` lists them: its nonlinearity, or for sm-ica natural "
      "(stable, nothing to tune) or published (the paper's steps)");
  command.add_option("--eta", choice.options.eta, "Learning rate, where the form has one to choose")
      ->check(positive());
  command
      .add_option("--tau", choice.options.tau, "Ratio of the learning rates of W and M, where there are both")
      ->check(positive());
  command
      .add_option("--whiten", choice.whiten,
                  "Online methods: whiten the input first. Those that need it white ask if it is not")
      ->check(CLI::IsMember({"yes", "no"}));
  command
      .add_option("--sub-gaussian", choice.options.sub_gaussian,
                  "orica: how many sources are sub-Gaussian (default: found while it learns)")
      ->check(CLI::Range(Index{0}, Index{1} << 20));
  command
      .add_option("--lambda", choice.options.lambda, "Values of the paper's Lambda table, comma-separated")
      ->delimiter(',')
      ->allow_extra_args(false);
  command
      .add_option("--lambda-reading", choice.reading, "What --lambda holds: lambda^-2, lambda, or lambda^-1")
      ->check(CLI::IsMember({"inverse-square", "direct", "inverse"}))
      ->capture_default_str();
  command.add_option("--passes", choice.options.passes, "Online methods: times over the data")
      ->check(CLI::Range(Index{1}, Index{1} << 30))
      ->capture_default_str();
  command.add_flag("--shuffle", choice.options.shuffle,
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
