#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"
#include "demix/synthetic.hpp"

namespace demix::cli {
namespace {

struct Options {
  int scenario = 4;
  std::vector<std::string> sources;
  Index samples = 10000;
  std::uint64_t seed = 0;
  double condition = 0;
  bool waveform = false;
  bool white = false;
  std::string folder;
  bool json = false;
};

void run(const Options& o) {
  std::vector<Source> which = scenario_sources(o.scenario);
  bool white = scenario_is_white(o.scenario);
  if (!o.sources.empty()) {
    which.clear();
    for (const std::string& name : o.sources) which.push_back(source_named(name));
    white = o.white;
  }
  Random random(o.seed);
  const auto d = static_cast<Index>(which.size());
  const Matrix<double> A =
      o.condition > 0 ? conditioned_mixing(d, o.condition, random) : normal_mixing(d, random);
  const Timing timing = o.waveform ? Timing::waveform : Timing::iid;
  Matrix<double> made;
  {
    Progress bar("generating");
    made = make_sources(which, o.samples, timing, random, [&](double share) { bar(share); });
  }
  const Mixture m = mix(std::move(made), A, white);

  const std::filesystem::path folder = o.folder;
  make_folder(folder);
  std::vector<std::string> names;
  for (const Source s : which) names.emplace_back(source_name(s));
  io::write_files({{folder / "sources.npy", io::to_npy(m.sources)},
                   {folder / "mixtures.npy", io::to_npy(m.mixtures)},
                   {folder / "mixing.npy", io::to_npy(m.mixing.transpose())}});
  if (o.json) {
    const nlohmann::ordered_json out = {
        {"sources", names}, {"samples", o.samples}, {"seed", o.seed},
        {"white", white},   {"folder", o.folder},   {"files", {"sources.npy", "mixtures.npy", "mixing.npy"}}};
    fmt::print("{}\n", out.dump(1));
    return;
  }
  for (const char* file : {"sources.npy", "mixtures.npy", "mixing.npy"})
    fmt::print("{}\n", (folder / file).string());
}

}  // namespace

void add_generate(CLI::App& app) {
  auto* sub = app.add_subcommand("generate",
                                 "Write synthetic sources, a mixing matrix and the mixtures as NPY files");
  auto o = std::make_shared<Options>();
  auto* scenario =
      sub->add_option("--scenario", o->scenario,
                      "Of the paper: 1, 2 square + sine + sawtooth; 3, 4 square + sine + laplace; "
                      "1 and 3 whitened, 2 and 4 as mixed")
          ->check(CLI::Range(1, 4))
          ->capture_default_str();
  auto* sources =
      sub->add_option(
             "--sources", o->sources,
             "Instead of a scenario, comma-separated: square, sine, sawtooth, laplace, uniform, nonnegative")
          ->delimiter(',')
          ->check(CLI::IsMember(source_names()))
          ->excludes(scenario);
  sub->add_flag("--white", o->white, "Whiten the mixtures (with --sources)")->needs(sources);
  sub->add_option("--samples", o->samples, "Frames to make")
      ->check(CLI::Range(1L, 1000000000L))
      ->capture_default_str();
  sub->add_option("--seed", o->seed, "The same seed gives the same numbers everywhere")
      ->capture_default_str();
  sub->add_option("--condition", o->condition,
                  "Condition number of the mixing matrix; default: Gaussian entries")
      ->check(CLI::Range(1.0, 1e12));
  sub->add_flag("--waveform", o->waveform, "Waveforms over one second instead of independent samples");
  sub->add_option("-o,--output", o->folder, "Folder to write to")->required();
  sub->add_flag("--json", o->json, "Say what was written as JSON");
  sub->footer("Files hold one frame per row: (samples, channels). mixing.npy holds A: mixtures = A sources.");
  sub->callback([o] { run(*o); });
}

}  // namespace demix::cli
