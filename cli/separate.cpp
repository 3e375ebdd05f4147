#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/signal_files.hpp"
#include "method_options.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::string input;
  std::string folder;
  MethodChoice choice;
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
  const Signals input = io::read_signals(o.input);
  Outcome outcome = run_method(o.choice, input, o.input);

  const std::filesystem::path folder = o.folder;
  const std::filesystem::path sources =
      folder / ("sources" + std::filesystem::path(o.input).extension().string());
  const std::filesystem::path model_file = folder / "model.json";
  Signals out;
  out.data = o.choice.options.live ? std::move(outcome.live) : outcome.model.apply(input.data);
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
  io::NewFiles files;
  io::Facts facts;
  facts.channels = out.data.rows();
  facts.rate = out.rate;
  facts.names = out.names;
  const auto writer = io::create_signals(files, sources, facts, {});
  writer->write(out.data);
  writer->finish();
  files.write(model_file, model_text);
  files.commit();

  print_warnings(outcome.model);
  if (!o.json) return print_table(outcome.model, sources, model_file);
  nlohmann::ordered_json json = {
      {"input", o.input},
      {"method", o.choice.method},
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
  sub->add_option("input", o->input, "File of mixtures, one frame per row: .npy, .csv, .tsv, .txt, .dat")
      ->required();
  sub->add_option("-o,--output", o->folder,
                  "Folder for sources.* (the kind of file that came in) and model.json")
      ->required();
  add_method_options(*sub, o->choice);
  sub->add_flag(
      "--live", o->choice.options.live,
      "Online methods: write each frame as it came out while learning, not as the final model has it");
  sub->add_flag("--json", o->json, "Report as JSON");
  sub->callback([o] { run(*o); });
}

}  // namespace demix::cli
