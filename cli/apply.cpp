#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::string model;
  std::string input;
  std::string output;
  std::vector<Index> remove;
  std::vector<Index> keep;
};

// Components are counted from 1 by people, from 0 by the model. What is not kept is removed.
std::vector<Index> removed(const Options& o, const Model& model) {
  for (const Index k : o.remove.empty() ? o.keep : o.remove) {
    if (k < 1 || k > model.components()) {
      throw Failure(fmt::format("{}: has components 1 to {}, not {}", o.model, model.components(), k));
    }
  }
  std::vector<Index> out;
  for (Index k = 1; k <= model.components(); ++k) {
    const bool is_named = std::ranges::count(o.remove.empty() ? o.keep : o.remove, k) > 0;
    if (is_named == !o.remove.empty()) out.push_back(k - 1);
  }
  return out;
}

void run(const Options& o) {
  const Model model = io::load_model(o.model);
  const Signals input = io::read_signals(o.input);
  if (input.data.rows() != model.channels()) {
    throw Failure(fmt::format("{}: has {} channels, the model {} needs {}", o.input, input.data.rows(),
                              o.model, model.channels()));
  }
  if (!input.names.empty() && !model.names.empty() && input.names != model.names) {
    fmt::print(stderr,
               "warning: {}: the channels are not named as those of {}; they are taken in their order\n",
               o.input, o.model);
  }
  Signals out{{}, input.rate, {}};
  if (o.remove.empty() && o.keep.empty()) {
    out.data = model.apply(input.data);
    for (Index k = 0; !input.names.empty() && k < out.data.rows(); ++k) {
      out.names.push_back(fmt::format("source{}", k + 1));
    }
  } else {
    out.data = model.remove(input.data, removed(o, model));
    out.names = input.names;
  }
  io::write_signals(o.output, out);
  fmt::print("{}\n", o.output);
}

}  // namespace

void add_apply(CLI::App& app) {
  auto* sub = app.add_subcommand("apply", "Separate a file with a model that is there already, or clean it");
  auto o = std::make_shared<Options>();
  sub->add_option("model", o->model, "Model, as fit, separate and stream write them")->required();
  sub->add_option("input", o->input, "File of mixtures, one frame per row: .npy, .csv, .tsv, .txt, .dat")
      ->required();
  sub->add_option("-o,--output", o->output,
                  "File to write: the sources, or with --remove or --keep the channels")
      ->required();
  auto* remove = sub->add_option("--remove", o->remove,
                                 "Give back the channels without these components, comma-separated, from 1")
                     ->delimiter(',');
  sub->add_option("--keep", o->keep, "Give back the channels with these components only")
      ->delimiter(',')
      ->excludes(remove);
  sub->callback([o] { run(*o); });
}

}  // namespace demix::cli
