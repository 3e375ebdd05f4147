#pragma once

#include <filesystem>
#include <string>

#include "demix/types.hpp"

/// What a person looks at.
namespace demix::report {

/// A row of samples as a small plot in braille dots: `lines` lines of `width` characters, scaled to [lo, hi].
std::vector<std::string> text_plot(const Vector<double>& samples, Index width, Index lines, double lo,
                                   double hi);

/// Mixtures on the left; on the right each source in blue, its estimate over it in red, their difference in
/// green, with histograms beside: the layout of the paper's figure 2. `Y` is matched to `S` (same order and
/// signs).
struct SeparationFigure {
  std::string title;
  Matrix<double> X, S, Y;
  std::vector<std::string> names;  ///< of the sources
  Index shown = 300;               ///< frames drawn as traces; histograms use all
  Index stride = 1;                ///< of the frames drawn
};

/// Writes base.png and base.svg with gnuplot. Returns the files; throws std::runtime_error with what to
/// install if there is no gnuplot.
std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base);

}  // namespace demix::report
