#include <cmath>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "file_use.hpp"
#include "inputs.hpp"
#include "method_options.hpp"
#include "outputs.hpp"
#include "separation_page.hpp"
#include "terminal.hpp"

namespace demix::cli {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

struct Options {
  Inputs inputs;
  std::string folder = "separated";
  std::vector<std::string> truth;
  MethodChoice choice;
  bool report = true;
  bool json = false;
};

// For each component the channel it matters most to: where it has the largest share of the power.
std::vector<std::string> strongest_channels(const Model& model) {
  const Matrix<double> share = model.mixing.rowwise().normalized();
  std::vector<std::string> names;
  for (Index k = 0; k < model.components(); ++k) {
    Index channel = 0;
    share.col(k).cwiseAbs().maxCoeff(&channel);
    names.push_back(model.names.empty() ? fmt::format("channel {}", channel + 1)
                                        : model.names[static_cast<std::size_t>(channel)]);
  }
  return names;
}

Json summary(const Options& o, const Separation& s,
             const std::vector<std::pair<std::string, fs::path>>& others) {
  Json json = {{"input", o.inputs.files.size() == 1 ? Json(o.inputs.files[0]) : Json(o.inputs.files)},
               {"method", s.model.method},
               {"why", s.why},
               {"samples", s.model.samples},
               {"channels", s.model.channels()},
               {"components", s.model.components()},
               {"kurtosis", std::vector<double>(s.model.kurtosis.begin(), s.model.kurtosis.end())},
               {"strongest_on", strongest_channels(s.model)}};
  if (s.model.stability.size() > 0) {
    json["stability"] = std::vector<double>(s.model.stability.begin(), s.model.stability.end());
  }
  if (s.model.convergence.has_steps()) {
    json["converged"] = s.model.convergence.converged;
    json["iterations"] = s.model.convergence.iterations;
  }
  if (s.files.size() == 1) {
    json["sources"] = s.files[0].string();
  } else {
    for (const fs::path& file : s.files) json["sources"].push_back(file.string());
  }
  for (const auto& [what, path] : others) json[what] = path.string();
  if (is_scaled(s.kind)) {
    for (const Scaling& scale : s.scaling) {
      json["gains"].push_back(scale.gain);
      if (s.kind == io::Kind::picture) json["offsets"].push_back(scale.offset);
    }
  }
  if (const auto& crosstalk = s.model.diagnosis.crosstalk) {
    json["crosstalk"] = {{"expected_db", 10 * std::log10(crosstalk->expected)},
                         {"bound_db", 10 * std::log10(crosstalk->bound)}};
  } else {
    json["crosstalk"] = nullptr;
  }
  json["warnings"] = Json::array();
  for (const Warning& w : s.model.warnings) json["warnings"].push_back(w.text);
  return json;
}

void print_table(const Separation& s) {
  const bool gains = is_scaled(s.kind);
  const auto strongest = strongest_channels(s.model);
  const bool stability = s.model.stability.size() > 0;
  fmt::print("{:<11}{:>10}{}{}   strongest on\n", "component", "kurtosis", stability ? "   stability" : "",
             gains ? "        gain" : "");
  for (std::size_t k = 0; k < strongest.size(); ++k) {
    const auto i = static_cast<Index>(k);
    fmt::print("{:<11}{:>10.3f}{}{}   {}\n", k + 1, s.model.kurtosis(i),
               stability ? fmt::format("{:>12.3f}", s.model.stability(i)) : "",
               gains ? fmt::format("{:>12.4g}", s.scaling[k].gain) : "", terminal_text(strongest[k]));
  }
}

void run(const Options& o) {
  // Sources come back in the kind of file that came in; sound and pictures each in one of their own.
  const io::Format& format = io::format_of(o.inputs.files[0]);
  const fs::path folder = o.folder;
  const bool each = is_scaled(format.kind);
  const std::string extension =
      format.create == nullptr ? ".npy" : fs::path(o.inputs.files[0]).extension().string();
  const fs::path source_file = folder / ((each ? "source" : "sources") + extension);
  const fs::path model_file = folder / "model.json";
  const fs::path report_file = folder / "report.html";
  const fs::path summary_file = folder / "summary.json";
  require_different_files(FileUse{o.inputs.files, possible_paths(source_file, each)}
                              .also_reads(o.truth)
                              .also_reads({o.choice.weights})
                              .also_writes({model_file, report_file, summary_file}));

  const io::FileRecording input = open(o.inputs);
  const Outcome outcome = run_method(o.choice, input, o.inputs.called());
  const Model& model = outcome.model;
  std::string model_text;
  try {
    model_text = io::to_json(model);
  } catch (const std::invalid_argument& e) {
    throw Failure(fmt::format("{}: no sound result ({}); try --method fobi", o.inputs.called(), e.what()));
  }
  const MappedRecording applied(input, model.components(),
                                [&](const Frames<double>& X) { return model.apply(X); });
  const MatrixRecording<double> live(outcome.live);
  const Recording& sources = o.choice.options.live ? static_cast<const Recording&>(live) : applied;

  const std::vector<io::Range> ranges = ranges_for(format.kind, sources);
  const Separation s{o.inputs,
                     input,
                     sources,
                     model,
                     outcome.why,
                     format.kind,
                     output_paths(source_file, sources.channels(), each),
                     ranges,
                     scaling_of_sources(format.kind, ranges)};
  make_folder(folder);
  io::NewFiles files;
  write_recording(files, s.files, facts_of_sources(input.facts(), sources.channels()), sources, ranges,
                  s.scaling);
  std::vector<std::pair<std::string, fs::path>> others = {{"model", model_file}};
  files.write(model_file, model_text);
  if (o.report) {
    others.emplace_back("report", report_file);
    files.write(report_file, separation_page(s, o.truth));
  }
  const Json json = summary(o, s, others);
  files.write(summary_file, json_text(json));
  files.commit();

  if (!s.why.empty()) message("{}: {}", model.method, s.why);
  print_diagnosis(model);
  if (o.json) return print_json(json);
  print_table(s);
  fmt::print("\n");
  for (const fs::path& file : s.files) fmt::print("{}\n", file.string());
  for (const auto& [what, path] : others) fmt::print("{}\n", path.string());
}

}  // namespace

void add_separate(Program& program) {
  Arguments sub = program.command("separate", "Separate the channels of files into independent sources");
  auto o = std::make_shared<Options>();
  add_inputs(sub, o->inputs, "Mixtures");
  sub.option("-o,--output", o->folder,
             "Folder for the sources (in the kind of file that came in; sound and pictures one file each, "
             "scaled to be heard and seen), model.json, report.html and summary.json")
      .show_default();
  add_method_options(sub, o->choice);
  sub.option("--truth", o->truth, "True sources, to be compared with in the report; once for each file")
      .one_at_a_time();
  sub.flag("--report,!--no-report", o->report,
           "Write report.html, a page to look at and listen to (default)");
  sub.flag("--live", o->choice.options.live,
           "Online methods: write each frame as it came out while learning, not as the final model has it");
  sub.flag("--json", o->json, "Print what summary.json holds");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
