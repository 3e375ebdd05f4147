#include "files/separation_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "demix/html_report.hpp"
#include "demix/metrics.hpp"
#include "demix/pictures.hpp"
#include "files/chosen_channels.hpp"
#include "files/eeg_page.hpp"

namespace demix {
namespace {

report::Summary summary_of(const Recording& recording) {
  report::Summary summary(recording.channels());
  recording.pass([&](const Frames<double>& block) { summary.add(block); });
  return summary;
}

// Every channel as a picture, at most as wide as a page needs it.
std::vector<report::Picture> pictures_of(const Recording& recording, const io::SignalInfo& info,
                                         const std::vector<io::Scaling>& scaling) {
  constexpr Index widest = 640;
  using Rows = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  const Matrix<double> all = gather(recording);
  std::vector<report::Picture> pictures;
  for (Index i = 0; i < all.rows(); ++i) {
    const io::Scaling& s = scaling[static_cast<std::size_t>(i)];
    const Vector<double> pixels = (s.gain * all.row(i).array() + s.offset).transpose();
    const Matrix<double> grey =
        io::shrink(Matrix<double>(Eigen::Map<const Rows>(pixels.data(), info.height, info.width)), widest);
    pictures.push_back({io::to_png8(grey), grey.cols(), grey.rows()});
  }
  return pictures;
}

// Every channel as sound, within the page if it is not too long for that.
std::vector<report::Sound> sounds_of(const Recording& recording, double rate, std::int64_t frames,
                                     const std::vector<io::Scaling>& scaling,
                                     const std::vector<std::filesystem::path>& files) {
  constexpr std::int64_t most = std::int64_t{12} << 20;  // bytes in all
  const bool fits = 2 * frames * recording.channels() <= most;
  if (!fits && files.empty()) return {};
  const Matrix<double> all = fits ? gather(recording) : Matrix<double>();
  std::vector<report::Sound> sounds;
  for (Index i = 0; i < recording.channels(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    report::Sound sound{{},
                        files.empty() ? "" : files[k].filename().string(),
                        static_cast<double>(frames) / rate,
                        scaling[k].gain};
    if (fits) sound.bytes = io::to_wav16(scaling[k].gain * all.row(i), rate);
    sounds.push_back(std::move(sound));
  }
  return sounds;
}

report::Part part_of(const Recording& recording, const io::SignalInfo& info, io::Kind kind,
                     const std::vector<io::Scaling>& scaling,
                     const std::vector<std::filesystem::path>& files) {
  report::Part part{summary_of(recording), info.names, info.units, {}, {}};
  if (kind == io::Kind::picture) part.pictures = pictures_of(recording, info, scaling);
  if (kind == io::Kind::sound) {
    part.sounds = sounds_of(recording, info.rate, part.summary.frames(), scaling, files);
  }
  return part;
}

// The true sources beside what was recovered of them, in their order and with their signs.
report::Truth compare_with(const io::FileRecording& truth, const Recording& sources,
                           const std::string& name) {
  const Matrix<double> S = standardized(gather(truth));
  const Matrix<double> outputs = standardized(gather(sources));
  if (S.rows() != outputs.rows() || S.cols() != outputs.cols()) {
    throw std::invalid_argument(
        fmt::format("{}: {} true sources of {} frames, but {} of {} came out; give as many of one length",
                    name, S.rows(), S.cols(), outputs.rows(), outputs.cols()));
  }
  RunningMse running(S.rows());
  running.add(Frames<double>(S), Frames<double>(outputs));
  const Matching match = running.matching();
  Matrix<double> Y(S.rows(), S.cols());
  for (Index i = 0; i < S.rows(); ++i) {
    const auto k = static_cast<std::size_t>(i);
    Y.row(i) = match.sign[k] * outputs.row(match.output[k]);
  }
  const auto summary = [](const Matrix<double>& M) { return summary_of(MatrixRecording<double>(M)); };
  return {{summary(S), truth.info().names, {}, {}, {}}, summary(Y), summary(S - Y)};
}

}  // namespace

std::string separation_page(const io::FileRecording& mixtures, const Recording& sources,
                            const SeparatedFiles& separated, const SeparateFilesOptions& options,
                            const std::optional<EegFaces>& faces) {
  const std::vector<Index> channels = channels_of_model(separated.model, mixtures.info(), mixtures.name());
  const io::SignalInfo info = info_of(mixtures.info(), channels);
  const PickedRecording picked(mixtures, channels);  // what the sources are of
  const io::Kind kind = separated.kind;
  report::Page page;
  page.title = "Sources of " + std::filesystem::path(mixtures.name()).filename().string();
  page.command = options.command;
  page.why = separated.why;
  for (const std::filesystem::path& path : mixtures.paths()) page.inputs.push_back(path.string());
  page.rate = info.rate;
  page.model = separated.model;
  page.notes = info.notes;
  page.notes.insert(page.notes.end(), separated.left_out.begin(), separated.left_out.end());
  page.weights = kind != io::Kind::picture && info.channels > 2;
  const auto shown = io::is_scaled(kind) ? io::source_scaling(kind, io::value_ranges(kind, picked))
                                         : std::vector<io::Scaling>{};
  page.mixtures = part_of(picked, info, kind, shown, {});
  page.sources =
      part_of(sources, io::source_info(info, sources.channels()), kind, separated.scaling, separated.sources);
  if (!options.truth.empty()) {
    const io::FileRecording truth(options.truth, mixtures.options());
    page.truth = compare_with(truth, sources, options.truth[0].string());
  }
  if (faces) page.eeg = eeg_part(picked, mixtures, separated, *faces);
  return report::html(page);
}

}  // namespace demix
