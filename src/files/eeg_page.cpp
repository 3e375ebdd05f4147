#include "files/eeg_page.hpp"

#include <algorithm>
#include <cmath>

#include "demix/scalp_map.hpp"

namespace demix {
namespace {

constexpr Index most_values = Index{3} << 19;  // of the viewer: 4 MB in the page
constexpr double least_rate = 100;             // Hz, that traces are thinned to

// All of a recording if it fits, thinned by means over neighbours; else a stretch from its middle.
report::Viewer viewer_of(const Recording& channels, const Model& model, double rate) {
  report::Viewer out;
  out.mixing = model.mixing;
  out.unmixing = model.unmixing;
  out.mean = model.mean;
  const Index n = channels.channels();
  const std::int64_t frames = channels.frames();
  const Index by = std::max<Index>(1, static_cast<Index>(rate / least_rate));
  out.rate = rate / static_cast<double>(by);
  const Index all = static_cast<Index>(frames / by);
  const Index shown = std::min(all, most_values / n);
  if (shown < 2) return out;
  const Index start = (all - shown) / 2;
  out.is_whole = shown == all;
  out.first = static_cast<double>(start) / out.rate;
  Matrix<double> sums = Matrix<double>::Zero(n, shown);
  std::int64_t first = 0;
  channels.pass([&](const Frames<double>& block) {
    const std::int64_t from = std::max<std::int64_t>(first, start * by);
    const std::int64_t to = std::min<std::int64_t>(first + block.cols(), (start + shown) * by);
    for (std::int64_t t = from; t < to; ++t) sums.col(t / by - start) += block.col(t - first);
    first += block.cols();
  });
  out.frames = (sums / static_cast<double>(by)).cast<float>();
  return out;
}

}  // namespace

report::Eeg eeg_part(const Recording& channels, const io::FileRecording& mixtures,
                     const SeparatedFiles& separated, const EegFaces& faces) {
  const Model& model = separated.model;
  const eeg::ScalpMaps maps = eeg::scalp_maps(faces.positions, faces.faces.maps);
  report::Eeg out;
  for (const eeg::Reference& r : faces.faces.references) out.references.push_back(r.name);
  out.frequencies = faces.faces.frequencies;
  out.map_radius = maps.size > 0 ? maps.radius : 0;
  out.electrodes = maps.electrodes;
  out.event = faces.event;
  out.event_from = eeg::EventImage::from;
  out.event_to = eeg::EventImage::to;
  out.removal = removal_command(model, separated.model_file, mixtures.paths());
  for (std::size_t k = 0; k < faces.faces.faces.size(); ++k) {
    const eeg::Face& face = faces.faces.faces[k];
    report::ComponentCard card;
    card.kurtosis = face.kurtosis;
    card.power = face.power;
    for (const eeg::Correlation& c : face.correlations) card.correlations.push_back(c.r);
    card.strongest = separated.strongest_on[k];
    card.spectrum = face.spectrum;
    if (maps.size > 0) card.map = maps.grids[k];
    card.trials = face.events.values;
    card.average = face.events.average;
    out.cards.push_back(std::move(card));
  }
  for (const Suggestion& s : model.suggestions) {
    out.cards[static_cast<std::size_t>(s.component)].kind = s.kind;
    out.cards[static_cast<std::size_t>(s.component)].reason = s.reason;
  }
  out.viewer = viewer_of(channels, model, mixtures.info().rate);
  return out;
}

}  // namespace demix
