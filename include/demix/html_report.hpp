#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "demix/eeg_report.hpp"
#include "demix/model.hpp"

/// The page that goes with a separation: one HTML file to look at and listen to, with all it needs inside.
namespace demix::report {

/// What the page shows of signals, gathered block by block, in memory that does not grow with the recording.
/// It is the same whatever the blocks. NaN and Inf may come: they are gaps.
class Summary {
 public:
  static constexpr std::size_t most_bins = 1024;
  static constexpr std::int64_t excerpt_frames = 1024;
  static constexpr std::size_t most_samples = 16384;

  struct Bin {
    double least = std::numeric_limits<double>::infinity();  ///< above `most` in a bin without numbers
    double most = -std::numeric_limits<double>::infinity();
    bool operator==(const Bin&) const = default;
  };

  struct Channel {
    std::vector<Bin> envelope;    ///< the whole length, in bins of bin_frames()
    std::vector<double> excerpt;  ///< a stretch from excerpt_start(), every frame
    std::vector<double> sample;   ///< the values at some frames, chosen at random
    std::int64_t count = 0;       ///< of numbers
    double mean = 0;
    double sum2 = 0, sum3 = 0, sum4 = 0;  ///< of the powers of (x - mean)

    double deviation() const;
    double kurtosis() const;  ///< Gaussian = 3; NaN for a constant
    bool operator==(const Channel&) const = default;
  };

  explicit Summary(Index channels = 0) : channels_(static_cast<std::size_t>(channels)) {}

  void add(const Frames<double>& block);

  Index channels() const { return static_cast<Index>(channels_.size()); }
  const Channel& channel(Index i) const { return channels_[static_cast<std::size_t>(i)]; }
  std::int64_t frames() const { return frames_; }
  std::int64_t bin_frames() const { return bin_frames_; }
  /// Begins between a quarter and a half of the length; at 0 in a short recording.
  std::int64_t excerpt_start() const { return excerpt_start_; }

  bool operator==(const Summary&) const = default;

 private:
  bool make_room();
  void widen_bins();
  void move_excerpt();
  void thin_sample();

  std::vector<Channel> channels_;
  std::int64_t frames_ = 0;
  std::int64_t bin_frames_ = 1;
  std::int64_t excerpt_start_ = 0;
  std::vector<std::vector<double>> next_excerpt_;  // of each channel, from next_start_
  std::int64_t next_start_ = excerpt_frames;
  std::vector<std::uint64_t> tickets_;  // of the sampled frames: drawn at random, below limit_
  std::uint64_t limit_ = std::numeric_limits<std::uint64_t>::max();
};

/// A signal to listen to.
struct Sound {
  std::string bytes;  ///< a whole WAV file; empty = too large for the page
  std::string file;   ///< where it is, from the folder of the page; or empty
  double seconds = 0;
  double gain = 1;  ///< what the signal was multiplied by to make the sound
};

/// A signal to look at.
struct Picture {
  std::string bytes;  ///< a whole PNG file
  Index width = 0, height = 0;
};

/// One kind of signals: the mixtures, the sources. Each list is empty or has one entry per signal; signals
/// with pictures are shown by them instead of traces.
struct Part {
  Summary summary;
  std::vector<std::string> names, units;
  std::vector<Sound> sounds;
  std::vector<Picture> pictures;
};

/// The true sources, where they are known, each beside what was recovered of it: all three match in order,
/// sign and scale.
struct Truth {
  Part sources;
  Summary recovered, residual;
};

struct Page {
  std::string title;
  std::string command;  ///< that made it, as it was typed
  std::string why;      ///< a sentence: why this method
  std::vector<std::string> inputs;
  double rate = 0;  ///< frames per second; 0 = unknown
  Model model;
  Part mixtures, sources;  ///< channels and components of the model
  std::optional<Truth> truth;
  std::optional<Eeg> eeg;          ///< what is suggested comes first then, and a script scrolls and sorts
  std::vector<std::string> notes;  ///< what else the reader should know
  bool weights = false;            ///< show the channel weights of each component: for EEG and the like
};

/// What the page says of a component.
struct Component {
  double power = 0;     ///< share of the power of all channels; NaN if they have none
  Index strongest = 0;  ///< channel of the largest weight in units of the channel's deviation
};
std::vector<Component> components_of(const Page& page);

/// Channels have different units: their powers are then added in units of each one's variance.
bool mixed_units(const Page& page);

/// The crosstalk to expect: "about -30 dB, below ..." or that it cannot be told, and why.
std::string crosstalk_text(const Diagnosis& diagnosis);

/// The page: HTML that is XML too, UTF-8, nothing fetched; no scripts but that of an EEG. Throws
/// std::invalid_argument naming the field that does not fit.
std::string html(const Page& page);

}  // namespace demix::report
