#include <algorithm>
#include <memory>
#include <optional>

#include "commands.hpp"
#include "console.hpp"
#include "core/ranks.hpp"
#include "demix/separate_files.hpp"
#include "eeg_output.hpp"
#include "inputs.hpp"

namespace demix::cli {
namespace {

struct Options {
  std::string model;
  Inputs inputs;
  std::string output;
  std::vector<std::string> remove;
  std::vector<std::string> keep;
};

// Components are counted from 1 by people, from 0 by the model. What is not kept is removed.
std::vector<Index> removed(const Options& o, const Model& model) {
  std::vector<Index> named;
  std::vector<std::string> missing;
  try {
    // To keep what there is none of would be to remove everything.
    named = o.remove.empty() ? named_components(model, o.keep) : named_components(model, o.remove, &missing);
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: {}", o.model, e.what()));
  }
  for (const std::string& why : missing) message("note: {}: {}; none is removed", o.model, as_typed(why));
  if (!o.remove.empty()) return named;
  std::vector<Index> out;
  for (Index k = 0; k < model.components(); ++k) {
    if (std::ranges::count(named, k) == 0) out.push_back(k);
  }
  return out;
}

void run_on_pipe(const Options& o) {
  if (o.inputs.format.empty()) {
    throw UsageError(
        "standard input: the format is not known; give --format f32, f64, s16, s32, wav, csv or tsv");
  }
  const Model model = io::load_model(o.model);
  PipedModel piped{o.model, o.inputs.format, o.output, o.inputs.read.channels, o.inputs.read.rate, {}};
  if (piped.channels == 0 && io::encoding_named(o.inputs.format) <= io::Encoding::s32)
    piped.channels = model.channels();
  if (!o.remove.empty() || !o.keep.empty()) {
    for (const Index k : removed(o, model)) piped.remove.push_back(k + 1);
    if (piped.remove.empty()) piped.remove = {0};  // the channels as they are
  }
  apply_to_pipe(piped);
}

void run(const Options& o) {
  if (o.inputs.files == std::vector<std::string>{"-"}) {
    if (is_first_rank()) run_on_pipe(o);  // its work is that of one process
    return;
  }
  if (!o.inputs.format.empty()) throw UsageError("--format is of standard input: name it with -");
  const Model model = io::load_model(o.model);
  const io::FileRecording mixtures = open(o.inputs, io::FileUse{{}, {o.output}}.also_reads_model(o.model));
  io::format_of(o.output);  // told before any work
  if (mixtures.channels() < model.channels()) {
    throw Failure(fmt::format("{}: has {} channels, the model {} needs {}", mixtures.name(),
                              mixtures.channels(), o.model, model.channels()));
  }
  const std::vector<std::string>& names = mixtures.info().names;
  if (names.size() == model.names.size() && !names.empty() && names != model.names) {
    message("warning: {}: the channels are not named as those of {}; they are taken in their order",
            mixtures.name(), o.model);
  }
  std::optional<std::vector<Index>> without;
  if (!o.remove.empty() || !o.keep.empty()) without = removed(o, model);
  const AppliedFiles out = apply_to_files(model, mixtures, o.output, without);
  if (out.unusable > 0)
    message("warning: {}: {}", mixtures.name(), unusable_text(out.unusable, out.frames, without.has_value()));
  if (!out.note.empty()) message("note: {}", as_typed(out.note));
  for (std::size_t k = 0; k < out.scaling.size(); ++k) {
    message("source {}: gain {:.4g}", k + 1, out.scaling[k].gain);
  }
  for (const auto& path : out.files) fmt::print("{}\n", path.string());
}

}  // namespace

void add_apply(Program& program) {
  Arguments sub = program.command(
      "apply", "Apply a model to files: write their sources, or their channels without some components");
  auto o = std::make_shared<Options>();
  sub.option("model", o->model,
             "Model written by fit, separate or stream; AMICA's output folder; or an EEGLAB "
             "dataset with an ICA (.set)")
      .value("FILE")
      .required();
  add_inputs(sub, o->inputs, "Mixtures");
  sub.option("-o,--output", o->output,
             "File to write: the sources or, with --remove or --keep, the channels. - for standard output "
             "(only with standard input). Pictures: one numbered file per source")
      .value("FILE")
      .required();
  Option remove =
      sub.option(
             "--remove", o->remove,
             "Remove these components and write the channels. Comma-separated: component numbers, from 1; "
             "kinds that the model suggests (blink, heart, ...); suggested: all that it suggests; none. "
             "EEGLAB files (.set) also store the remaining components")
          .value("K")
          .comma_separated()
          .one_at_a_time()
          .check(component_complaint, "K");
  sub.option("--keep", o->keep, "Write the channels with these components only")
      .value("K")
      .comma_separated()
      .one_at_a_time()
      .check(component_complaint, "K")
      .excludes(remove);
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
