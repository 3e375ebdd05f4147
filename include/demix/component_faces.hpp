#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "demix/electrodes.hpp"
#include "demix/model.hpp"
#include "demix/recording.hpp"

/// What tells the components of an EEG apart: spectrum, peaks, likeness to the eyes and the heart, map.
namespace demix::eeg {

/// A channel that shows what is not of the brain.
struct Reference {
  enum class Kind { eog, ecg };
  Index channel = 0;  ///< of the recording
  std::string name;
  Kind kind = Kind::eog;
};

/// What is given of a recording beside the model of some of its channels.
struct RecordingFacts {
  double rate = 0;                   ///< frames per second
  std::vector<Index> channels = {};  ///< of the recording, those of the model, in its order; empty: all
  std::vector<Reference> references = {};
  std::vector<std::int64_t> events = {};  ///< frames, in order: of the ERP image; or none
};

/// The strongest correlation with a reference over lags up to 0.2 s, in a band: 1 to 10 Hz for the eyes, 5 to
/// 20 Hz for the heart.
struct Correlation {
  double r = 0;
  double lag = 0;  ///< seconds by which the reference is later
};

/// A component about each event: rows are trials (neighbours averaged if there are more than rows), columns
/// are times from -0.2 to 0.8 s.
struct EventImage {
  static constexpr double from = -0.2, to = 0.8;  ///< seconds
  Matrix<float> values;                           ///< NaN where nothing was recorded
  std::vector<double> average;                    ///< of all trials, for each column
  std::int64_t trials = 0;
};

struct Face {
  double kurtosis = 3;                    ///< Gaussian = 3
  double power = 0;                       ///< share of the power of the model's channels
  double deviation = 0;                   ///< of the source
  std::vector<double> spectrum;           ///< power density of the source, per Hz, at Faces::frequencies
  std::vector<Correlation> correlations;  ///< with each reference
  double beats = 0;   ///< per minute, if its peaks follow each other evenly as heart beats do; else 0
  double peaks = 0;   ///< per minute
  EventImage events;  ///< empty without events
};

struct Faces {
  std::vector<double> frequencies;  ///< Hz
  std::vector<Reference> references;
  Matrix<double> maps;  ///< channels x components: what a component makes of each channel (one deviation)
  std::vector<Face> faces;
};

/// In one pass. Frames that hold NaN or Inf are left out.
Faces faces_of(const Model& model, const Recording& recording, const RecordingFacts& facts);

/// Components that are likely of the eyes, the heart, muscles, the mains or one bad channel, with the reason,
/// by rules (docs/eeg.md); each component once. `positions`: of the model's channels; without them the rules
/// of maps do not speak.
std::vector<Suggestion> suggestions(const Faces& faces, const Positions& positions);

}  // namespace demix::eeg
