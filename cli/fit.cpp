#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "core/ranks.hpp"
#include "demix/amica.hpp"
#include "demix/output_files.hpp"
#include "eeg_output.hpp"
#include "inputs.hpp"
#include "method_options.hpp"

namespace demix::cli {
namespace {

struct Options {
  Inputs inputs;
  std::string output;
  MethodChoice choice;
  std::string positions;
  std::string amica;
};

void run(Options& o) {
  save_standard_input(o.inputs);
  io::FileUse use{{}, {o.output}};
  use.also_reads_signals(o.choice.frame_weights).also_reads_electrodes(o.positions);
  if (!o.amica.empty()) use.also_writes(io::amica_paths(o.amica));
  const io::FileRecording mixtures = open(o.inputs, use);
  check_positions(mixtures, {o.positions});
  if (!is_first_rank()) {
    std::vector<std::filesystem::path> written = {o.output};
    if (!o.amica.empty()) {
      for (const auto& path : io::amica_paths(o.amica)) written.push_back(path);
    }
    clean_up_after_others(written, o.amica);
  }
  const Outcome outcome = with_method(o.choice, [&](const FitOptions& options) {
    Outcome fitted = fit_files(mixtures, options);
    if (is_first_rank()) suggest(fitted.model, mixtures, options.filters, {o.positions});
    return fitted;
  });
  if (!is_first_rank()) return;
  io::NewFiles files;
  files.write(o.output, io::to_json(outcome.model));
  if (!o.amica.empty()) {
    io::make_folder(o.amica);
    const auto channels = channels_of(outcome.model, mixtures.info());
    const PickedRecording picked(mixtures, channels.value_or(std::vector<Index>{}));
    io::write_amica(files, o.amica, outcome.model,
                    channels ? static_cast<const Recording&>(picked) : mixtures);
  }
  files.commit();
  if (!outcome.why.empty()) message("{}: {}", outcome.model.method, outcome.why);
  print_diagnosis(outcome.model);
  print_suggestions(outcome.model, o.output, o.inputs.typed);
  fmt::print("{}\n", o.output);
}

}  // namespace

void add_fit(Program& program) {
  Arguments sub = program.command("fit", "Learn a model from files, for `demix apply`");
  auto o = std::make_shared<Options>();
  add_inputs(sub, o->inputs, "Mixtures");
  sub.option("-o,--output", o->output, "Model file to write (JSON)").value("FILE").required();
  sub.option("--amica", o->amica,
             "Also write the model to this folder in AMICA's format, for EEGLAB's loadmodout15")
      .value("FOLDER");
  add_positions_option(sub, o->positions);
  add_method_options(sub, o->choice);
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
