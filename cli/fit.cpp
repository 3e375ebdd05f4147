#include <fmt/format.h>

#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"
#include "method_options.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::string input;
  std::string output;
  MethodChoice choice;
};

void run(const Options& o) {
  const Signals input = io::read_signals(o.input);
  const Outcome outcome = run_method(o.choice, input, o.input);
  io::save_model(o.output, outcome.model);
  print_warnings(outcome.model);
  fmt::print("{}\n", o.output);
}

}  // namespace

void add_fit(CLI::App& app) {
  auto* sub = app.add_subcommand("fit", "Learn a model from a file, to be applied to others");
  auto o = std::make_shared<Options>();
  sub->add_option("input", o->input, "File of mixtures, one frame per row: .npy, .csv, .tsv, .txt, .dat")
      ->required();
  sub->add_option("-o,--output", o->output, "The model, a JSON file")->required();
  add_method_options(*sub, o->choice);
  sub->callback([o] { run(*o); });
}

}  // namespace demix::cli
