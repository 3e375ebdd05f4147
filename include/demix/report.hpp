#pragma once

#include <filesystem>
#include <string>
#include <vector>

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

/// How well each method does as frames go by, over many runs: the log-log convergence plot of the paper's
/// appendix D. All panels share the range of errors; what is outside [1e-8, 1e2] is drawn at its edge.
struct ConvergenceFigure {
  struct Curve {
    std::string label;              ///< of the method; the same label looks the same in all panels
    std::vector<double> median;     ///< at each of Panel::frames; NaN = nothing there
    std::vector<double> low, high;  ///< the error bar
    Index failed = 0, runs = 0;     ///< runs that did not separate; 0 runs = not counted
  };
  struct Panel {
    std::string title;
    std::vector<double> frames;  ///< where it was measured, increasing
    std::vector<Curve> curves;   ///< each with its own label
  };
  std::string title;
  std::vector<Panel> panels;  ///< 1 to 6, with up to 14 labels
  double threshold = 0.05;    ///< separated below it
};

/// A table of numbers as colours: the grid search over eta and tau.
struct HeatMap {
  std::string title, x_label, y_label, value_label;
  std::vector<std::string> x, y;   ///< names of the columns, left to right, and the rows, top to bottom
  Matrix<double> values;           ///< y.size() x x.size(), > 0; NaN = failed in every run
  std::vector<std::string> texts;  ///< written into the cells, row by row; may be empty
  Index best_row = -1, best_column = -1;  ///< framed, unless negative
};

/// Writes base.png and base.svg with gnuplot, both or none; texts show as they are. Returns the files; throws
/// std::invalid_argument naming the field that does not fit, std::runtime_error with what to install if there
/// is no gnuplot.
std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const ConvergenceFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const HeatMap& figure, const std::filesystem::path& base);

}  // namespace demix::report
