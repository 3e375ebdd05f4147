#pragma once

#include "demix/rotation.hpp"

/// The method `auto`. It finds several rotations: FastICA's (or Picard's, where FastICA does not converge
/// soon), FOBI's and, up to 16 components, JADE's. It takes the one whose outputs depend least on each other.
/// Dependence is measured by the sum of the entropies of the outputs, which is least where they are
/// independent.
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
