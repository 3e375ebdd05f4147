#include <memory>

#include <nlohmann/json.hpp>

#include "commands.hpp"
#include "console.hpp"
#include "demix/separate_files.hpp"
#include "eeg_output.hpp"
#include "inputs.hpp"
#include "method_options.hpp"
#include "terminal.hpp"
#include "trace_option.hpp"

namespace demix::cli {
namespace {

namespace fs = std::filesystem;

struct Options {
  Inputs inputs;
  std::string folder = "separated";
  std::vector<std::string> truth;
  MethodChoice choice;
  std::string trace;
  std::string positions;
  bool report = true;
  bool filter_output = false;
  bool json = false;
};

void print_table(const SeparatedFiles& s) {
  const Model& model = s.model;
  const bool gains = !s.scaling.empty();
  const bool stability = model.stability.size() > 0;
  fmt::print("{:<11}{:>10}{}{}   strongest on\n", "component", "kurtosis", stability ? "   stability" : "",
             gains ? "        gain" : "");
  for (std::size_t k = 0; k < s.strongest_on.size(); ++k) {
    const auto i = static_cast<Index>(k);
    fmt::print("{:<11}{:>10.3f}{}{}   {}\n", k + 1, model.kurtosis(i),
               stability ? fmt::format("{:>12.3f}", model.stability(i)) : "",
               gains ? fmt::format("{:>12.4g}", s.scaling[k].gain) : "", terminal_text(s.strongest_on[k]));
  }
}

void run(Options& o) {
  save_standard_input(o.inputs);
  SeparateFilesOptions options;
  options.truth = {o.truth.begin(), o.truth.end()};
  options.report = o.report;
  options.filter_output = o.filter_output;
  options.trace = o.trace;
  options.command = command_line();
  options.eeg.positions = o.positions;
  const io::FileRecording mixtures = open(o.inputs);
  const SeparatedFiles out = with_method(o.choice, [&](const FitOptions& fit) {
    options.fit = fit;
    return separate_files(mixtures, o.folder, options);
  });
  if (!out.why.empty()) message("{}: {}", out.model.method, out.why);
  print_diagnosis(out.model);
  if (!out.no_picture.empty()) message("warning: no picture of the trace: {}", out.no_picture);
  if (o.json) return print_json(nlohmann::ordered_json::parse(out.summary));
  print_table(out);
  fmt::print("\n");
  print_suggestions(out.model, out.model_file.string(), o.inputs.typed);
  if (!out.model.suggestions.empty()) fmt::print("\n");
  for (const fs::path& file : out.sources) fmt::print("{}\n", file.string());
  for (const fs::path& file : {out.model_file, out.report_file, out.summary_file}) {
    if (!file.empty()) fmt::print("{}\n", file.string());
  }
  for (const fs::path& file : out.trace_files) fmt::print("{}\n", file.string());
}

}  // namespace

void add_separate(Program& program) {
  Arguments sub = program.command("separate", "Separate the channels of files into independent sources");
  auto o = std::make_shared<Options>();
  add_inputs(sub, o->inputs, "Mixtures");
  sub.option(
         "-o,--output", o->folder,
         "Folder for the sources, model.json, report.html and summary.json. Sources have the format of the "
         "input; sound and pictures get one file per source, scaled to full range")
      .value("FOLDER")
      .show_default();
  add_positions_option(sub, o->positions);
  add_method_options(sub, o->choice);
  sub.option("--truth", o->truth,
             "File of true sources, to compare with in the report; repeat for several files")
      .value("FILE")
      .one_at_a_time();
  sub.flag("--report,!--no-report", o->report, "Write report.html (default), or do not");
  sub.flag("--filter-output", o->filter_output,
           "Apply --highpass, --lowpass and --notch to the written sources, too (default: sources of the "
           "unfiltered recording)");
  sub.flag("--online-output", o->choice.options.online_output,
           "Online methods: write the outputs computed while learning instead of those of the final model");
  sub.renamed("--live", "--online-output");
  add_trace_option(sub, o->trace, "sm-ica");
  sub.flag("--json", o->json, "Print the contents of summary.json");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
