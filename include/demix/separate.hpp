#pragma once

#include "demix/rotation.hpp"

/// The method that needs no choice. Of several rotations, that of FastICA (or Picard, where FastICA does not
/// settle soon), FOBI, and up to 16 components JADE, the one that leaves the least dependence: outputs are
/// independent where the sum of their entropies is least, and that can be measured without knowing the
/// sources.
namespace demix {

struct Choice {
  Rotation rotation;
  std::string why;  ///< one line
};
Choice choose_rotation(const WhiteRecording& white);

struct Separated {
  Model model;
  std::string why;  ///< this method
};

/// Whiten, choose, describe. If a handful of frames make most of a component (glitches), they are left out,
/// and the model says which. Throws std::invalid_argument as whiten() does; all other doubts are in the
/// model.
Separated separate(const Recording& X, const BatchOptions& options = {});
Separated separate(const Frames<float>& X, const BatchOptions& options = {});
Separated separate(const Frames<double>& X, const BatchOptions& options = {});

}  // namespace demix
