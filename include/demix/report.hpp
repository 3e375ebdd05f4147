#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "demix/types.hpp"

/// Figures, and plots in text. A figure is as wide as a column of 8.5 cm, with letters of 7 to 9 points there
/// (a convergence figure of several panels as two, and any that needs it wider); its SVG is of that size, in
/// millimetres. Colours are Okabe and Ito's; curves differ in dashes or markers too, so that they are told
/// apart in grey.
namespace demix::report {

/// A row of samples as a small plot in braille dots: `lines` lines of `width` characters, scaled to [lo, hi].
std::vector<std::string> text_plot(const Vector<double>& samples, Index width, Index lines, double lo,
                                   double hi);

/// Mixtures on the left; on the right each source, pale and thick, its estimate over it in red, their
/// difference in green and on the same scale, with histograms beside: the layout of the paper's figure 2. `Y`
/// is matched to `S` (same order and signs).
struct SeparationFigure {
  std::string title;
  Matrix<double> X, S, Y;
  std::vector<std::string> names;  ///< of the sources
  Index shown = 300;               ///< points drawn of each trace; histograms use all frames
  Index first = 0;                 ///< of the frames drawn
  Index stride = 1;                ///< frames to a point: above 1 the envelope is drawn, least to most
};

/// How well each method does as frames go by, over many runs: the log-log convergence plot of the paper's
/// appendix D. All panels share the range of errors; what is outside [1e-8, 1e2] is drawn at its edge.
struct ConvergenceFigure {
  struct Curve {
    std::string label;              ///< of the method; the same label looks the same in all panels
    std::vector<double> median;     ///< at each of Panel::frames; NaN = nothing there
    std::vector<double> low, high;  ///< the error bar
    Index separated = 0, diverged = 0, runs = 0;  ///< the others did neither; 0 runs = not counted
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
  Index best_row = -1, best_column = -1;      ///< framed, unless negative
  Index marked_row = -1, marked_column = -1;  ///< framed by dashes, unless negative
};

/// Points in the plane, and arrows from the origin: the paper's figure 1A. One legend below names the arrows;
/// of more than 5000 points in a panel so many are drawn.
struct ScatterFigure {
  struct Arrow {
    double x, y;
    std::string label;
  };
  struct Panel {
    std::string title, x_label, y_label;
    Matrix<double> points;          ///< 2 x n
    std::vector<Arrow> sources;     ///< axes of the sources, each in its colour: the same in all panels
    std::vector<Arrow> directions;  ///< principal directions, black
  };
  std::string title;
  std::vector<Panel> panels;  ///< 1 to 6, up to two side by side; each square, with equal scales on its axes
};

/// Curves y(x) in panels side by side, with up to 14 labels and one legend below. Curves leave a gap where
/// they are not finite, or not positive on a log axis; bands are bars where there are dots. A curve of gaps
/// with a band is a shaded area.
struct CurvesFigure {
  struct Curve {
    std::string label;              ///< the same label looks the same in all panels
    std::vector<double> x, y;       ///< NaN = a gap
    std::vector<double> low, high;  ///< a band around it; may be empty
    bool dots = false;              ///< a dot for each point instead of a line
  };
  struct Mark {  ///< a thin dashed line across, with its name
    double at;
    std::string label;
    bool vertical = false;
  };
  struct Panel {
    std::string title, x_label, y_label;
    bool log_x = false, log_y = false;
    std::vector<Curve> curves;
    std::vector<Mark> marks;
  };
  std::string title;
  std::vector<Panel> panels;  ///< 1 to 6; up to two side by side
};

/// Rows of pictures of one size with the histogram of each below it, above the greys of its values: the
/// paper's figure 2C. Of each picture the lowest and highest half percent of the pixels are black and white.
struct PicturesFigure {
  struct Row {
    std::string title;               ///< left of it: sources, mixtures, recovered
    Matrix<double> pixels;           ///< one row per picture, pixels row by row from the upper left corner;
                                     ///< stretched to grey
    std::vector<std::string> names;  ///< above each; may be empty
  };
  std::string title;
  Index width = 0, height = 0;  ///< of every picture
  std::vector<Row> rows;
  bool histograms = true;
};

/// A network drawn from its weights, and the mixing that feeds it: the paper's figure 1B. From below:
/// sources, inputs, dendrites c, somata y. Feedforward weights W are lines from the inputs to synapses at the
/// dendrites; lateral weights M_ij are arcs between the somata, M_ij > 0 inhibits; M_ii is a leak. Synapses
/// that inhibit end in a ring, others in a dot. Colour: sign; thickness: size, of W, M and A each on its own
/// scale. The total activity sum y^2 reaches the feedforward synapses, whose plasticity alone it modulates.
/// The half of an arc next to a soma is the weight into that one.
struct NetworkFigure {
  std::string title;
  Matrix<double> A = {};  ///< inputs x sources; empty: the sources are not drawn
  Matrix<double> W;       ///< outputs x inputs
  Matrix<double> M;       ///< outputs x outputs
  std::vector<std::string> sources = {}, inputs, outputs;  ///< names
  bool point_neurons = false;  ///< without dendrites and modulation: the networks of appendix E
};

/// Pictures drawn before, put together: A, B, C, ... from the left and then down. Those of a row are of one
/// height.
struct CompositeFigure {
  std::vector<std::vector<std::filesystem::path>> rows;  ///< PNG files, each with its SVG beside it
};

/// To be asked before long work: throws std::runtime_error with what to install if there is no gnuplot.
void require_gnuplot();

/// Writes base.png and base.svg with gnuplot, both or none; texts show as they are. Returns the files; throws
/// std::invalid_argument naming the field that does not fit, and as require_gnuplot() does.
std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const ConvergenceFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const HeatMap& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const ScatterFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const CurvesFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const PicturesFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const NetworkFigure& figure, const std::filesystem::path& base);
std::vector<std::filesystem::path> draw(const CompositeFigure& figure, const std::filesystem::path& base);

}  // namespace demix::report
