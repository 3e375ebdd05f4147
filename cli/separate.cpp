#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"
#include "demix/methods.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::string input;
  std::string method = "fobi";
  std::string folder;
  std::string weight;
  std::string reading = "inverse-square";
  std::string whiten;
  MethodOptions method_options;
  bool json = false;
};

void print_table(const Model& model, const std::filesystem::path& sources,
                 const std::filesystem::path& model_file) {
  // Of each channel, the share of its power that belongs to each component.
  const Matrix<double> share = model.mixing.rowwise().normalized();
  fmt::print("{:<11}{:>10}   strongest on\n", "component", "kurtosis");
  for (Index k = 0; k < model.components(); ++k) {
    Index channel = 0;
    share.col(k).cwiseAbs().maxCoeff(&channel);
    fmt::print("{:<11}{:>10.3f}   {}\n", k + 1, model.kurtosis(k),
               model.names.empty() ? fmt::format("channel {}", channel + 1)
                                   : model.names[static_cast<std::size_t>(channel)]);
  }
  fmt::print("\n{}\n{}\n", sources.string(), model_file.string());
}

void run(const Options& o) {
  const Method& method = method_named(o.method);
  const Signals input = io::read_signals(o.input);
  Progress bar("separating");
  MethodOptions options = o.method_options;
  options.progress = [&](double share) { bar(share); };
  if (!o.weight.empty()) options.weight = weight_named(o.weight);
  if (!o.whiten.empty()) options.whiten = o.whiten == "yes";
  options.reading = lambda_reading_named(o.reading);

  Outcome outcome;
  try {
    outcome = method.run(input.data, options);
  } catch (const NoSuchOption&) {
    throw;
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", o.input, e.what()));
  }
  if (!outcome.ok) throw Failure(fmt::format("{}: {}", o.input, outcome.failure));
  outcome.model.names = input.names;

  const std::filesystem::path folder = o.folder;
  const std::filesystem::path sources =
      folder / ("sources" + std::filesystem::path(o.input).extension().string());
  const std::filesystem::path model_file = folder / "model.json";
  Signals out;
  out.data = o.method_options.live ? std::move(outcome.live) : outcome.model.apply(input.data);
  out.rate = input.rate;
  if (!input.names.empty()) {
    for (Index k = 0; k < out.data.rows(); ++k) out.names.push_back(fmt::format("source{}", k + 1));
  }
  std::string model_text;
  try {
    model_text = io::to_json(outcome.model);
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: no sound result ({}); try --method fobi", o.input, e.what()));
  }
  make_folder(folder);
  io::write_files({{sources, io::to_bytes(sources, out)}, {model_file, model_text}});

  print_warnings(outcome.model);
  if (!o.json) return print_table(outcome.model, sources, model_file);
  nlohmann::ordered_json json = {
      {"input", o.input},
      {"method", o.method},
      {"samples", outcome.model.samples},
      {"channels", outcome.model.channels()},
      {"components", outcome.model.components()},
      {"kurtosis", std::vector<double>(outcome.model.kurtosis.begin(), outcome.model.kurtosis.end())},
      {"sources", sources.string()},
      {"model", model_file.string()}};
  json["warnings"] = nlohmann::ordered_json::array();
  for (const Warning& w : outcome.model.warnings) json["warnings"].push_back(w.text);
  fmt::print("{}\n", json.dump(1));
}

}  // namespace

void add_separate(CLI::App& app) {
  auto* sub = app.add_subcommand("separate", "Separate the channels of a file into independent sources");
  auto o = std::make_shared<Options>();
  std::vector<std::string> names;
  for (const Method& m : methods()) names.emplace_back(m.name);
  sub->add_option("input", o->input, "File of mixtures, one frame per row: .npy, .csv, .tsv, .txt, .dat")
      ->required();
  sub->add_option("-m,--method", o->method, "One of those `demix methods` lists")
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  sub->add_option("-o,--output", o->folder,
                  "Folder for sources.* (the kind of file that came in) and model.json")
      ->required();
  sub->add_option("--components", o->method_options.components,
                  "Keep at most this many (default: all there are)")
      ->check(CLI::Range(Index{1}, Index{1} << 20));
  std::vector<std::string> weights;
  for (const std::string_view w : weight_names()) weights.emplace_back(w);
  sub->add_option("--weight", o->weight,
                  "Weight of a frame: square (the paper's), or norm, log, reciprocal, which "
                  "resist outliers")
      ->check(CLI::IsMember(weights));
  sub->add_option("--seed", o->method_options.seed, "Of random starts")->capture_default_str();
  sub->add_option(
      "--form", o->method_options.form,
      "Variant of the method, as `demix methods` lists them: its nonlinearity, or for sm-ica natural "
      "(stable, nothing to tune) or published (the paper's steps)");
  sub->add_option("--eta", o->method_options.eta, "Learning rate, where the form has one to choose")
      ->check(positive());
  sub->add_option("--tau", o->method_options.tau,
                  "Ratio of the learning rates of W and M, where there are both")
      ->check(positive());
  sub->add_option("--whiten", o->whiten,
                  "Online methods: whiten the input first. Those that need it white ask if it is not")
      ->check(CLI::IsMember({"yes", "no"}));
  sub->add_option("--sub-gaussian", o->method_options.sub_gaussian,
                  "orica: how many sources are sub-Gaussian (default: found while it learns)")
      ->check(CLI::Range(Index{0}, Index{1} << 20));
  sub->add_option("--lambda", o->method_options.lambda, "Values of the paper's Lambda table, comma-separated")
      ->delimiter(',');
  sub->add_option("--lambda-reading", o->reading, "What --lambda holds: lambda^-2, lambda, or lambda^-1")
      ->check(CLI::IsMember({"inverse-square", "direct", "inverse"}))
      ->capture_default_str();
  sub->add_option("--passes", o->method_options.passes, "Online methods: times over the data")
      ->check(CLI::Range(Index{1}, Index{1} << 30))
      ->capture_default_str();
  sub->add_flag("--shuffle", o->method_options.shuffle,
                "Online methods: a new random order of the frames in every pass");
  sub->add_flag(
      "--live", o->method_options.live,
      "Online methods: write each frame as it came out while learning, not as the final model has it");
  sub->add_flag("--json", o->json, "Report as JSON");
  sub->callback([o] { run(*o); });
}

}  // namespace demix::cli
