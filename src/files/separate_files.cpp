#include "demix/separate_files.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <sstream>

#include "core/ranks.hpp"
#include "core/strongest_channel.hpp"
#include "demix/file_use.hpp"
#include "demix/trace_files.hpp"
#include "files/before_fit.hpp"
#include "files/chosen_channels.hpp"
#include "files/separation_page.hpp"

namespace demix {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// For each component the channel it matters most to: where it has the largest share of the power.
std::vector<std::string> strongest_channels(const Model& model) {
  const Matrix<double> share = channel_shares(model.mixing);
  std::vector<std::string> names;
  for (Index k = 0; k < model.components(); ++k) {
    const Index channel = strongest_channel(share.col(k));
    names.push_back(model.names.empty() ? fmt::format("channel {}", channel + 1)
                                        : model.names[static_cast<std::size_t>(channel)]);
  }
  return names;
}

// One file by its name, several as a list.
Json file_list(const std::vector<fs::path>& paths) {
  if (paths.size() == 1) return paths[0].string();
  Json list = Json::array();
  for (const fs::path& path : paths) list.push_back(path.string());
  return list;
}

std::string summary(const std::vector<fs::path>& inputs, const SeparatedFiles& out) {
  const Model& model = out.model;
  const auto list = [](const Vector<double>& v) { return std::vector<double>(v.begin(), v.end()); };
  Json json = {{"input", file_list(inputs)},
               {"method", model.method},
               {"why", out.why},
               {"samples", model.samples},
               {"channels", model.channels()},
               {"components", model.components()},
               {"kurtosis", list(model.kurtosis)},
               {"strongest_on", out.strongest_on}};
  if (model.stability.size() > 0) json["stability"] = list(model.stability);
  if (model.convergence.has_steps()) {
    json["converged"] = model.convergence.converged;
    json["iterations"] = model.convergence.iterations;
  }
  for (const Suggestion& s : model.suggestions) {
    json["suggestions"].push_back({{"component", s.component + 1}, {"kind", s.kind}, {"reason", s.reason}});
  }
  json["sources"] = file_list(out.sources);
  json["model"] = out.model_file.string();
  if (!out.report_file.empty()) json["report"] = out.report_file.string();
  if (!out.trace_files.empty()) json["trace"] = out.trace_files[0].string();
  json["summary"] = out.summary_file.string();
  for (const io::Scaling& scale : out.scaling) {
    json["gains"].push_back(scale.gain);
    if (out.kind == io::Kind::picture) json["offsets"].push_back(scale.offset);
  }
  json["crosstalk"] = nullptr;
  if (const auto& crosstalk = model.diagnosis.crosstalk) {
    json["crosstalk"] = {{"expected_db", 10 * std::log10(crosstalk->expected)},
                         {"bound_db", 10 * std::log10(crosstalk->bound)}};
  }
  json["warnings"] = Json::array();
  for (const Warning& w : model.warnings) json["warnings"].push_back(w.text);
  return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

// Of what is left, for files that hold a model; the others are empty then.
Model model_without(const Model& model, const std::vector<Index>& removed) {
  std::vector<Index> kept;
  for (Index k = 0; k < model.components(); ++k) {
    if (std::ranges::count(removed, k) == 0) kept.push_back(k);
  }
  Model out;
  out.names = model.names;
  out.mean = model.mean;
  out.unmixing = model.unmixing(kept, Eigen::all);
  out.mixing = model.mixing(Eigen::all, kept);
  out.kurtosis = model.kurtosis(kept);
  return out;
}

constexpr double too_large = 1e150;  // squared length of a frame
std::string note_of_others(const io::SignalInfo& info, const fs::path& output) {
  std::string names;
  for (const auto& signal : info.others->signals) names += (names.empty() ? "" : ", ") + signal.label;
  if (io::holds_others(output, info)) {
    return fmt::format("{}: signals of other rates are copied as they are: {}", output.string(), names);
  }
  return fmt::format("{}: does not hold the signals of other rates: {}; write .edf or .bdf to keep them",
                     output.string(), names);
}

Index total_over_ranks(Index count) {
  std::istringstream counts(all_gathered(*ranks(), std::to_string(count) + " "));
  Index total = 0;
  while (counts >> count) total += count;
  return total;
}

std::string model_text(const Model& model, const std::string& name) {
  try {
    return io::to_json(model);
  } catch (const std::invalid_argument& e) {
    throw Diverged(fmt::format("{}: no sound result ({}); try `method = fobi`", name, e.what()));
  }
}

}  // namespace

SeparatedFiles separate_files(const io::FileRecording& mixtures, const fs::path& folder,
                              const SeparateFilesOptions& options) {
  const fs::path& first = mixtures.paths()[0];
  const fs::path source_file = io::output_path(first, folder, "source");
  SeparatedFiles out;
  out.kind = io::format_of(first).kind;
  out.model_file = folder / "model.json";
  out.report_file = folder / "report.html";
  out.summary_file = folder / "summary.json";
  const bool each = io::is_scaled(out.kind);
  io::FileUse use{mixtures.files(), io::possible_paths(source_file, each)};
  for (const fs::path& truth : options.truth) use.also_reads_signals(truth, mixtures.options());
  io::require_different_files(use.also_reads_signals(options.fit.frame_weights)
                                  .also_reads_electrodes(options.eeg.positions)
                                  .also_writes({out.model_file, out.report_file, out.summary_file})
                                  .also_writes(trace_paths(options.trace)));
  if (!options.report) out.report_file.clear();

  check_positions(mixtures, options.eeg);
  if (!is_first_rank()) {
    std::vector<fs::path> written = {source_file, out.model_file, out.report_file, out.summary_file};
    for (const fs::path& path : trace_paths(options.trace)) written.push_back(path);
    clean_up_after_others(written, folder);
  }
  NetworkTrace trace;
  FitOptions fit = options.fit;
  fit.note = [&](const std::string& text) {
    out.left_out.push_back(text);
    if (options.fit.note) options.fit.note(text);
  };
  if (!options.trace.empty()) fit.options.trace = &trace;
  Outcome outcome = fit_files(mixtures, fit);
  out.model = std::move(outcome.model);
  out.why = std::move(outcome.why);
  out.strongest_on = strongest_channels(out.model);
  std::optional<EegFaces> faces;  // which the first rank writes of
  if (is_first_rank()) faces = suggest(out.model, mixtures, options.fit.filters, options.eeg);
  const std::string model = model_text(out.model, mixtures.name());

  const std::vector<Index> channels = channels_of_model(out.model, mixtures.info(), mixtures.name());
  const PickedRecording picked(mixtures, channels);
  const bool picks = static_cast<Index>(channels.size()) < mixtures.channels();
  const Recording& raw = picks ? static_cast<const Recording&>(picked) : mixtures;
  FilterOptions filters = options.fit.filters;
  filters.decimate = 1;
  const bool filtered = options.filter_output && filters.any();
  const FilteredRecording smooth(raw, design(filtered ? filters : FilterOptions{}, mixtures.info().rate),
                                 boundaries_of(mixtures.info()));
  Model shown = out.model;
  if (filtered && filters.highpass > 0) shown.mean.setZero();  // it is filtered out
  const MappedRecording applied(filtered ? static_cast<const Recording&>(smooth) : raw,
                                out.model.components(),
                                [&](const Frames<double>& X) { return shown.apply(X); });
  const MatrixRecording<double> live(outcome.online_output);
  const Recording& sources =
      options.fit.options.online_output ? static_cast<const Recording&>(live) : applied;
  const io::SignalInfo written = io::source_info(mixtures.info(), sources.channels());
  io::NewFiles files;
  const bool by_all = &sources == &applied && io::is_written_by_all_ranks(source_file, applied);
  if (!is_first_rank()) {
    if (by_all) io::write_by_all_ranks(files, source_file, written, applied);
    return out;
  }
  const std::vector<io::ValueRange> ranges = io::value_ranges(out.kind, sources);
  out.scaling = io::source_scaling(out.kind, ranges);
  out.sources = io::output_paths(source_file, sources.channels(), each);

  io::make_folder(folder);
  if (by_all) {
    io::write_by_all_ranks(files, source_file, written, applied);
  } else {
    io::write_recording(files, out.sources, written, sources, ranges, out.scaling);
  }
  files.write(out.model_file, model);
  if (options.report) files.write(out.report_file, separation_page(mixtures, sources, out, options, faces));
  if (!options.trace.empty()) {
    files.write(options.trace, io::to_npz(trace_arrays(trace)));
    out.trace_files = {options.trace};
  }
  out.summary = summary(mixtures.paths(), out);
  files.write(out.summary_file, out.summary);
  files.commit();
  if (!options.trace.empty()) {
    try {
      for (const fs::path& picture :
           draw_traces(options.trace, {{out.model.method + " while it learns", &trace}})) {
        out.trace_files.push_back(picture);
      }
    } catch (const std::exception& e) {  // the numbers are there
      out.no_picture = e.what();
    }
  }
  return out;
}

AppliedFiles apply_to_files(const Model& model, const io::FileRecording& mixtures, const fs::path& output,
                            const std::optional<std::vector<Index>>& without) {
  const io::Kind kind = io::format_of(output).kind;
  io::FileUse use{mixtures.files(), {output}};
  if (kind == io::Kind::picture) use.also_writes(io::possible_paths(output, true));
  io::require_different_files(use);
  const io::SignalInfo& info = mixtures.info();
  const std::vector<Index> channels = channels_of_model(model, info, mixtures.name());
  const bool all = static_cast<Index>(channels.size()) == info.channels;
  AppliedFiles out;
  std::atomic<Index> frames = 0, unusable = 0;  // several threads count them
  const auto map = [&](const Frames<double>& X) -> Matrix<double> {
    Matrix<double> picked;
    if (!all) picked = X(channels, Eigen::all);
    const Frames<double> seen = all ? X : Frames<double>(picked);
    Matrix<double> Y = without ? model.remove(seen, *without) : model.apply(seen);
    frames += seen.cols();
    for (Index t = 0; t < seen.cols(); ++t) {
      if (seen.col(t).squaredNorm() < too_large && Y.col(t).allFinite()) continue;
      ++unusable;
      if (without) {
        Y.col(t) = seen.col(t);
      } else {
        Y.col(t).setZero();
      }
    }
    if (all || !without) return Y;
    Matrix<double> clean = X;
    clean(channels, Eigen::all) = Y;
    return clean;
  };
  const MappedRecording mapped(mixtures, without ? info.channels : model.components(), map);
  const bool by_all = io::is_written_by_all_ranks(output, mapped);
  if (!is_first_rank()) {
    if (!by_all) return out;
    clean_up_after_others({output});
  }
  const std::vector<io::ValueRange> ranges = io::value_ranges(kind, mapped);
  frames = unusable = 0;  // they are counted in the last pass
  if (!without) out.scaling = io::source_scaling(kind, ranges);
  const bool each = kind == io::Kind::picture && mapped.channels() > 1;
  out.files = io::output_paths(output, mapped.channels(), each);
  io::NewFiles files;
  io::SignalInfo written = without ? info : io::source_info(info, mapped.channels());
  if (without && info.others) out.note = note_of_others(info, output);
  written.ica = without ? std::make_shared<const Model>(model_without(model, *without)) : nullptr;
  if (by_all) {
    io::write_by_all_ranks(files, output, written, mapped);
  } else {
    io::write_recording(files, out.files, written, mapped, ranges, out.scaling);
  }
  out.frames = by_all ? total_over_ranks(frames) : frames.load();
  out.unusable = by_all ? total_over_ranks(unusable) : unusable.load();
  if (out.frames > 0 && out.unusable == out.frames)
    throw io::Error(mixtures.name() + ": " + unusable_text(out.unusable, out.frames, without.has_value()));
  if (is_first_rank()) files.commit();
  return out;
}

std::string unusable_text(std::int64_t unusable, std::int64_t frames, bool channels) {
  if (unusable == 0) return "";
  if (unusable == frames) return fmt::format("all {} frames hold NaN, Inf or values beyond 1e75", frames);
  return fmt::format("{} of {} frames hold NaN, Inf or values beyond 1e75: {}", unusable, frames,
                     channels ? "they are written as they are" : "their sources are 0");
}

}  // namespace demix
