#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/threads.hpp"
#include "inputs.hpp"
#include "method_options.hpp"

namespace demix::cli {
namespace {

struct Options {
  Inputs inputs;
  std::string output;
  MethodChoice choice;
};

void run(const Options& o) {
  io::FileUse use{{}, {o.output}};
  use.also_reads_signals(o.choice.frame_weights);
  for (const std::string& file : o.inputs.files) use.also_reads_signals(file, read_options(o.inputs));
  io::require_different_files(use);
  const FitOptions options = fit_options(o.choice);
  if (o.inputs.files.size() > 1 && !(options.bad.empty() && options.frame_weights.empty())) {
    throw UsageError(options.bad.empty() ? "--frame-weights" : "--bad",
                     "is for one input file; run demix moments for each file on its own");
  }
  Progress bar("summing up");
  std::optional<PartCoordinates> coordinates;
  std::optional<PartMoments> all;
  std::optional<io::SignalInfo> first;
  for (const std::string& file : o.inputs.files) {
    const io::FileRecording mixtures = open(o.inputs, {file});
    if (!first) first = mixtures.info();
    if (mixtures.channels() != first->channels || mixtures.info().names != first->names) {
      throw Failure(fmt::format("{}: its channels are not those of {}", file, o.inputs.files[0]));
    }
    const PartMoments part = moments_of_file(mixtures, coordinates, options);
    if (all) {
      all->merge(part);
    } else {
      all = part;
    }
    bar(static_cast<double>(&file - o.inputs.files.data() + 1) / static_cast<double>(o.inputs.files.size()));
  }
  io::write_file(o.output, to_bytes(*all));
  fmt::print("{}\n", o.output);
}

}  // namespace

void add_moments(Program& program) {
  Arguments sub =
      program.command("moments", "Compute the moments of one part of a recording, for `demix merge`");
  auto o = std::make_shared<Options>();
  o->choice.method = "fobi";
  sub.option(
         "input", o->inputs.files,
         fmt::format("Recordings of the same channels, in order of time. Files: {}", io::extensions_text()))
      .required()
      .value("FILE");
  add_read_options(sub, o->inputs);
  sub.option("-o,--output", o->output, "File of moments to write").value("FILE.sums").required();
  sub.option("-m,--method", o->choice.method,
             "Method that `demix merge` takes by default; the moments do not depend on it")
      .value("NAME")
      .one_of({"fobi", "jade", "sm-ica-offline"})
      .show_default();
  add_learned_frames(sub, o->choice, "");
  sub.option("--threads", o->choice.threads, "Number of threads (default one per core)").range(1, 1024);
  sub.footer(
      fmt::format("At most {} channels. The time grows with the fourth power of their number, and so does "
                  "the file: 0.5 MB for 32 channels, 6.5 MB for 64, 29 MB for 96.",
                  most_part_channels));
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
