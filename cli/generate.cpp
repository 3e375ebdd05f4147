#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <limits>
#include <memory>

#include "commands.hpp"
#include "console.hpp"
#include "demix/io.hpp"
#include "demix/metrics.hpp"
#include "demix/output_files.hpp"
#include "demix/synthetic.hpp"
#include "inputs.hpp"

namespace demix::cli {
namespace {

struct Options {
  int scenario = 4;
  std::vector<std::string> sources;
  Inputs from;
  Index samples = 10000;
  std::uint64_t seed = 0;
  double condition = 0;
  bool waveform = false;
  std::string whiten = "no";
  std::string folder;
  bool json = false;
};

Matrix<double> draw_mixing(const Options& o, Index d, Random& random) {
  return o.condition > 0 ? conditioned_mixing(d, o.condition, random) : normal_mixing(d, random);
}

// The files of the user's own sources, each as long as the shortest, with mean 0 and variance 1.
Matrix<double> read_sources(const Options& o, io::SignalInfo& info) {
  std::vector<Matrix<double>> parts;
  Index channels = 0;
  Index frames = std::numeric_limits<Index>::max();
  for (const std::string& file : o.from.files) {
    const io::FileRecording recording = open(o.from, {file});
    const io::SignalInfo& own = recording.info();
    if (parts.empty()) info = own;
    if (own.rate != info.rate || own.width != info.width || own.height != info.height) {
      throw Failure(
          fmt::format("{}: has another rate or size than {}; sources must agree", file, o.from.files[0]));
    }
    parts.push_back(gather(recording));
    channels += parts.back().rows();
    frames = std::min(frames, parts.back().cols());
  }
  Matrix<double> all(channels, frames);
  Index row = 0;
  for (std::size_t k = 0; k < parts.size(); ++k) {
    const auto part = parts[k].leftCols(frames);
    if (!part.allFinite()) throw Failure(fmt::format("{}: holds NaN or Inf", o.from.files[k]));
    all.middleRows(row, part.rows()) = part;
    row += part.rows();
  }
  return standardized(all);
}

// Mixtures of files, in the kind of file they came in.
void run_from_files(const Options& o) {
  const io::Format& format = io::format_of(o.from.files[0]);
  const std::filesystem::path folder = o.folder;
  const bool each = io::is_scaled(format.kind);
  const auto file_of = [&](const std::string& stem) {
    return io::output_path(o.from.files[0], folder, stem);
  };
  io::FileUse use{{}, {folder / "mixing.npy"}};
  use.also_writes(io::possible_paths(file_of("source"), each));
  use.also_writes(io::possible_paths(file_of("mixture"), each));
  for (const std::string& file : o.from.files) use.also_reads_signals(file, read_options(o.from));
  io::require_different_files(use);

  io::SignalInfo info;
  Matrix<double> S = read_sources(o, info);
  Random random(o.seed);
  const Matrix<double> A = draw_mixing(o, S.rows(), random);
  Mixture m = mix(std::move(S), A, o.whiten == "yes");
  info.channels = m.sources.rows();
  info.names.clear();
  info.units.clear();
  info.annotations.clear();

  // One scale for all mixtures: it is part of the mixing, and leaves it what it is otherwise.
  const double most = m.mixtures.maxCoeff();
  const double least = m.mixtures.minCoeff();
  io::Scaling common;
  if (format.kind == io::Kind::sound) common.gain = 0.9 / std::max({most, -least, 1e-300});
  if (format.kind == io::Kind::picture) common.gain = 1 / std::max(most - least, 1e-300);
  if (format.kind == io::Kind::picture) common.offset = -common.gain * least;
  m.mixing *= common.gain;

  io::NewFiles files;
  std::vector<std::filesystem::path> written;
  const auto write = [&](const Matrix<double>& data, const std::string& stem, const auto& scaling_for) {
    const MatrixRecording<double> recording(data);
    const auto ranges = io::value_ranges(format.kind, recording);
    const auto paths = io::output_paths(file_of(stem), data.rows(), each);
    io::write_recording(files, paths, info, recording, ranges, scaling_for(ranges));
    written.insert(written.end(), paths.begin(), paths.end());
  };
  io::make_folder(folder);
  write(m.sources, "source", [&](const auto& ranges) { return io::source_scaling(format.kind, ranges); });
  write(m.mixtures, "mixture",
        [&](const auto& ranges) { return std::vector<io::Scaling>(ranges.size(), common); });
  files.write(folder / "mixing.npy", io::to_npy(m.mixing.transpose()));
  written.push_back(folder / "mixing.npy");
  files.commit();
  if (o.json) {
    nlohmann::ordered_json out = {{"samples", m.sources.cols()}, {"seed", o.seed}, {"folder", o.folder}};
    for (const auto& path : written) out["files"].push_back(path.filename().string());
    print_json(out);
    return;
  }
  for (const auto& path : written) fmt::print("{}\n", path.string());
}

void run(const Options& o) {
  if (!o.from.files.empty()) return run_from_files(o);
  std::vector<Source> which = scenario_sources(o.scenario);
  bool white = scenario_is_white(o.scenario);
  if (!o.sources.empty()) {
    which.clear();
    for (const std::string& name : o.sources) which.push_back(source_named(name));
    white = o.whiten == "yes";
  }
  Random random(o.seed);
  const auto d = static_cast<Index>(which.size());
  const Matrix<double> A = draw_mixing(o, d, random);
  const Timing timing = o.waveform ? Timing::waveform : Timing::iid;
  Matrix<double> made;
  {
    Progress bar("generating");
    made = make_sources(which, o.samples, timing, random, [&](double share) { bar(share); });
  }
  const Mixture m = mix(std::move(made), A, white);

  const std::filesystem::path folder = o.folder;
  io::make_folder(folder);
  std::vector<std::string> names;
  for (const Source s : which) names.emplace_back(source_name(s));
  io::write_files({{folder / "sources.npy", io::to_npy(m.sources)},
                   {folder / "mixtures.npy", io::to_npy(m.mixtures)},
                   {folder / "mixing.npy", io::to_npy(m.mixing.transpose())}});
  if (o.json) {
    const nlohmann::ordered_json out = {
        {"sources", names}, {"samples", o.samples}, {"seed", o.seed},
        {"white", white},   {"folder", o.folder},   {"files", {"sources.npy", "mixtures.npy", "mixing.npy"}}};
    print_json(out);
    return;
  }
  for (const char* file : {"sources.npy", "mixtures.npy", "mixing.npy"})
    fmt::print("{}\n", (folder / file).string());
}

}  // namespace

void add_generate(Program& program) {
  Arguments sub = program.command(
      "generate", "Make test data: sources, mixing matrix and mixtures, from built-in sources or from files");
  auto o = std::make_shared<Options>();
  Option scenario = sub.option("--scenario", o->scenario,
                               "Scenario of the paper. 1, 2: square, sine, sawtooth; 3, 4: square, sine, "
                               "laplace. 1 and 3 are whitened")
                        .range(1, 4)
                        .show_default();
  Option sources =
      sub.option("--sources", o->sources, "Sources to use instead of a scenario, comma-separated")
          .value("NAME")
          .comma_separated()
          .one_of(source_names())
          .excludes(scenario);
  Option from =
      sub.option("--from", o->from.files,
                 "Files of sources to mix instead, cut to the length of the shortest. Mixtures have the "
                 "same format")
          .value("FILE")
          .excludes(scenario)
          .excludes(sources);
  sub.option("--whiten", o->whiten, "Whiten the mixtures; for --sources and --from")
      .one_of({"yes", "no"})
      .show_default();
  sub.renamed("--white", "--whiten yes");
  sub.option("--frames", o->samples, "Number of frames").range(1, 1000000000).excludes(from).show_default();
  sub.renamed("--samples", "--frames");
  sub.option("--seed", o->seed, "Random seed").show_default();
  sub.option("--condition", o->condition,
             "Condition number of the mixing matrix; 1 = a rotation (default: Gaussian entries)")
      .real_range(1, 1e12);
  sub.flag("--waveform", o->waveform, "Draw one second of waveforms instead of independent samples");
  sub.option("-o,--output", o->folder, "Folder for sources, mixing and mixtures").value("FOLDER").required();
  add_read_options(sub, o->from);
  sub.flag("--json", o->json, "Print JSON");
  sub.footer("Files hold one frame per row: (frames, channels). mixing.npy holds A: mixtures = A sources.");
  sub.run([o] { run(*o); });
}

}  // namespace demix::cli
