#pragma once

#include <array>
#include <string>
#include <vector>

#include "demix/types.hpp"

/// What the page says of an EEG besides.
namespace demix::report {

/// The page's picture of a component.
struct ComponentCard {
  std::string kind, reason;          ///< of the suggestion to remove it; empty: none
  double kurtosis = 3, power = 0;    ///< power: share of all
  std::vector<double> correlations;  ///< with each of Eeg::references
  std::string strongest;             ///< channel
  std::vector<double> spectrum;      ///< power density at Eeg::frequencies
  Matrix<float> map;                 ///< square, from the nose down and from the left; empty: none
  Matrix<float> trials;              ///< about the events: trials x times; empty: none
  std::vector<double> average;       ///< of the trials, at as many times
};

/// Channels to scroll through in the page, with and without components.
struct Viewer {
  double rate = 0;   ///< frames per second in `frames`: they may be thinned
  double first = 0;  ///< seconds in the recording at which they begin
  bool is_whole = true;
  Matrix<float> frames;  ///< channels x frames
  Matrix<double> mixing, unmixing;
  Vector<double> mean;
};

struct Eeg {
  std::vector<ComponentCard> cards;     ///< of each component
  std::vector<std::string> references;  ///< names of the channels of eyes and heart
  std::vector<double> frequencies;      ///< Hz
  double map_radius = 1;                ///< of what the maps show; 1 is the head
  std::vector<std::array<double, 2>> electrodes;
  std::string event;                    ///< name of the events; or empty
  double event_from = 0, event_to = 0;  ///< seconds
  std::string removal;                  ///< the command that removes what is suggested
  Viewer viewer;
};

}  // namespace demix::report
