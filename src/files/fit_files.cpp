#include <fmt/format.h>

#include <cctype>
#include <cmath>
#include <regex>

#include "core/warnings.hpp"
#include "demix/separate_files.hpp"
#include "files/bad_stretches.hpp"
#include "files/before_fit.hpp"
#include "files/chosen_channels.hpp"

namespace demix {
namespace {

// Annotations that begin with "bad", as MNE writes them.
bool is_bad(const io::Annotation& annotation) {
  std::string start = annotation.text.substr(0, 3);
  for (char& c : start) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return start == "bad";
}

// In frames.
std::vector<Segment> bad_segments(const FitOptions& options, const io::FileRecording& mixtures) {
  const double rate = mixtures.info().rate > 0 ? mixtures.info().rate : 1;
  std::vector<Segment> segments;
  const auto add = [&](double from, double to) {
    segments.push_back(
        {static_cast<Index>(std::floor(from * rate)), static_cast<Index>(std::ceil(to * rate))});
  };
  for (const FitOptions::TimeSpan& span : options.bad) add(span.from, span.to);
  if (!options.bad_annotations) return segments;
  for (const io::Annotation& a : mixtures.info().annotations) {
    if (is_bad(a)) add(std::max(0.0, a.onset), std::max(0.0, a.onset + std::max(a.duration, 1 / rate)));
  }
  if (segments.size() == options.bad.size()) {
    throw io::Error(
        fmt::format("{}: has no annotation that begins with bad; give `bad` as from-to", mixtures.name()));
  }
  return segments;
}

Vector<double> read_weights(const std::filesystem::path& file) {
  const Signals signals = io::read_signals(file);
  if (signals.data.rows() != 1) {
    throw io::Error(fmt::format("{}: has {} columns where one weight per frame is expected", file.string(),
                                signals.data.rows()));
  }
  return signals.data.row(0).transpose();
}

// What is learned from: what a recording becomes before the fit, with weights, without bad segments.
class Learned {
 public:
  Learned(const io::FileRecording& mixtures, const FitOptions& options)
      : before_(mixtures, options),
        learned_(&before_.recording()),
        rate_(mixtures.info().rate / static_cast<double>(options.filters.decimate)) {
    if (!options.frame_weights.empty()) {
      if (options.filters.decimate > 1) {
        throw std::invalid_argument("frame weights: cannot be with `decimate`");
      }
      learned_ = &weighted_.emplace(*learned_, read_weights(options.frame_weights));
    }
    std::vector<Segment> bad = bad_segments(options, mixtures);
    bad.insert(bad.end(), before_.bad().begin(), before_.bad().end());
    const Index n = options.filters.decimate;
    for (Segment& s : bad) s = {s.first / n, (s.end + n - 1) / n};
    if (!bad.empty()) learned_ = &good_.emplace(*learned_, bad);
  }
  Learned(const Learned&) = delete;
  Learned& operator=(const Learned&) = delete;
  const Recording& recording() const { return *learned_; }
  bool all_frames() const { return !good_; }
  double rate() const { return rate_; }  // of the frames that are learned from
  const std::vector<Index>& picks() const { return before_.picks(); }
  void describe(Model& model) const { before_.describe(model); }

 private:
  BeforeFit before_;
  std::optional<WeightedRecording> weighted_;
  std::optional<RecordingWithout> good_;
  const Recording* learned_;
  double rate_;
};

bool learns_from_all(const FitOptions& options) {
  return options.bad.empty() && !options.bad_annotations && !options.find_bad;
}

// In it a recording is called by its file's name.
std::invalid_argument named(const io::FileRecording& mixtures, const FitOptions& options,
                            std::string_view what) {
  if (what.starts_with("X: ")) what.remove_prefix(3);
  return std::invalid_argument(
      fmt::format("{}: {}{}", mixtures.name(), what,
                  learns_from_all(options) ? "" : " (counted without the bad frames)"));
}

// "Fp1, Cz, Pz" for "channels 1 and 5 to 6", as warnings count those that were learned from.
std::string with_names(const std::string& text, const std::vector<std::string>& names) {
  static const std::regex counted("channels? ([0-9]+(?:(?:, | and | to )[0-9]+)*)");
  static const std::regex part("( to )?([0-9]+)");
  std::smatch found;
  if (names.empty() || !std::regex_search(text, found, counted)) return text;
  std::vector<std::string> listed;
  const std::string numbers = found.str(1);
  std::size_t last = 0;
  for (std::sregex_iterator i(numbers.begin(), numbers.end(), part); i != std::sregex_iterator(); ++i) {
    const std::size_t number = std::stoul(i->str(2));
    for (std::size_t k = i->length(1) > 0 ? last + 1 : number; k <= number && k <= names.size(); ++k)
      listed.push_back(names[k - 1]);
    last = number;
  }
  return found.prefix().str() + fmt::format("{}", fmt::join(listed, ", ")) + found.suffix().str();
}

// " (at 1.250, 3.000 s)": when the frames were that a warning names.
std::string times_of(const Warning& warning, double rate) {
  if (warning.frames.empty()) return "";
  std::string times;
  for (std::size_t k = 0; k < std::min(warning.frames.size(), listed_frames); ++k) {
    times += fmt::format("{}{:.3f}", k == 0 ? "" : ", ", static_cast<double>(warning.frames[k]) / rate);
  }
  return fmt::format(" (at {} s{})", times, warning.frames.size() > listed_frames ? " ..." : "");
}

}  // namespace

Outcome fit_files(const io::FileRecording& mixtures, const FitOptions& options) {
  bool all_frames = true;
  Outcome outcome;
  double rate = 0;
  try {
    const Learned learned(mixtures, options);
    outcome = method_named(options.method).run(learned.recording(), options.options);
    learned.describe(outcome.model);
    rate = learned.rate();
    all_frames = learned.all_frames();
  } catch (const NoSuchOption&) {
    throw;
  } catch (const NoSuchForm&) {
    throw;
  } catch (const NeedsWhitening& e) {
    throw NeedsWhitening(
        fmt::format("{}: {} (give `whiten = yes` or `whiten = no`)", mixtures.name(), e.what()));
  } catch (const Diverged& e) {
    throw Diverged(fmt::format("{}: {}", mixtures.name(), e.what()));
  } catch (const std::invalid_argument& e) {
    throw named(mixtures, options, e.what());
  }
  // One dimension less is what that reference does.
  if (options.average_reference && outcome.model.components() == outcome.model.channels() - 1) {
    std::erase_if(outcome.model.warnings,
                  [](const Warning& w) { return w.kind == Warning::Kind::reduced_rank; });
  }
  for (Warning& w : outcome.model.warnings) {
    if (w.kind == Warning::Kind::reduced_rank || w.kind == Warning::Kind::clipped)
      w.text = with_names(w.text, outcome.model.names);
    if (all_frames && rate > 0) w.text += times_of(w, rate);
    if (w.kind == Warning::Kind::glitches && !w.components.empty()) {
      w.text += w.frames.size() == 1 ? "; mark it as bad, or use the method auto"
                                     : "; mark them as bad, or use the method auto";
    }
  }
  return outcome;
}

PartMoments moments_of_file(const io::FileRecording& mixtures, std::optional<PartCoordinates>& coordinates,
                            const FitOptions& options) {
  try {
    const Learned learned(mixtures, options);
    if (!coordinates) coordinates = part_coordinates(learned.recording());
    PartMoments part = part_moments(learned.recording(), *coordinates);
    part.method = options.method;
    part.names = info_of(mixtures.info(), learned.picks()).names;
    return part;
  } catch (const std::invalid_argument& e) {
    throw named(mixtures, options, e.what());
  }
}

}  // namespace demix
