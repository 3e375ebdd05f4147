#pragma once

#include <vector>

#include "demix/electrodes.hpp"

/// Values at electrodes as a map of the whole scalp.
namespace demix::eeg {

/// Spherical splines (Perrin, Pernier, Bertrand and Echallier 1989) of order 4, with 50 Legendre polynomials
/// and 1e-5 added to the diagonal: what MNE interpolates by. `from`, `to`: 3 x n, unit vectors. Values at
/// `to` are W times those at `from`.
Matrix<double> spline_weights(const Matrix<double>& from, const Matrix<double>& to);

/// A direction as a point of the drawing of a head from above: (0, 0) is Cz, (0, 1) is Fpz, (1, 0) is T8.
/// Distances from Cz keep their proportions.
std::array<double, 2> drawn_at(double x, double y, double z);

/// Maps of all columns of `values` (channels x maps) on one square grid.
struct ScalpMaps {
  Index size = 0;     ///< points to a side
  double radius = 1;  ///< of what is drawn, 1 being the head; the grid goes from -radius to radius
  std::vector<std::array<double, 2>> electrodes;  ///< as drawn_at(), of the channels whose place is known
  std::vector<Index> channels;                    ///< of the electrodes
  Matrix<double> at_electrodes;                   ///< electrodes x maps: the map there
  std::vector<Matrix<float>> grids;  ///< of each map: size x size, (row from the nose, column from the left)
};
/// No maps of fewer than 4 electrodes.
ScalpMaps scalp_maps(const Positions& positions, const Matrix<double>& values, Index size = 64);

}  // namespace demix::eeg
