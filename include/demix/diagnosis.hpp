#pragma once

#include <optional>
#include <string>

#include "demix/types.hpp"

namespace demix {

/// How far a separation can be trusted, as far as the recording itself can tell.
struct Diagnosis {
  /// What sampling leaves of the sources in each other's outputs.
  struct Crosstalk {
    /// Power of all other sources in an output over that of its own, averaged over the outputs: the MSE, for
    /// sources of variance 1. One recording in two has less than `expected`, 19 in 20 less than `bound`.
    double expected = 0, bound = 0;
    Matrix<double> pairs;  ///< (i, j): standard deviation of the amplitude of source j in output i
  };
  std::optional<Crosstalk> crosstalk;
  std::string no_crosstalk;  ///< if there is none: why it cannot be told

  /// (i, j): magnitude-squared coherence of the outputs over all frequencies, 0 to 1, whatever the lag
  /// between them. Empty if the recording is too short to tell.
  Matrix<double> coherence;
  /// (i, j): correlation of the magnitudes of outputs i and j: of |y|, or, of 6400 frames and more, of its
  /// root mean square over 32 frames, whichever is more.
  Matrix<double> magnitudes;
};

}  // namespace demix
