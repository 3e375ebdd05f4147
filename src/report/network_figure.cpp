#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

namespace demix::report {
namespace {

using gnuplot::require;
using gnuplot::width_of;
using gnuplot::wrapped;
using Strings = std::vector<std::string>;

// Points, then pixels.
constexpr double font = 15;
constexpr double title_font = 17;
constexpr double text_line = 25;
constexpr double pad = 14;
constexpr double name_room = 140;  // before a name is broken
constexpr double least_node = 46;  // its height; its width leaves room for the feet of arcs
constexpr double foot_step = 13;   // from one to the next
constexpr double corner = 14;      // radius
constexpr double between = 50;     // nodes of a layer
constexpr double layers = 200;     // from inputs to outputs
constexpr double arc_step = 26;    // of the height of arcs, with each node between its ends
constexpr double thickest = 7;
constexpr double least_width = 500;  // of the page
constexpr const char* pale_sky = "#DCEFFA";
constexpr const char* activity = "Σ y²";

void validate(const NetworkFigure& f) {
  require(f.W.size() > 0, "W: expected outputs x inputs, got none");
  require(f.W.allFinite(), "W: expected finite numbers, got others");
  require(f.M.rows() == f.W.rows() && f.M.cols() == f.W.rows(),
          fmt::format("M: expected {0} x {0}, as many as W has rows, got {1} x {2}", f.W.rows(), f.M.rows(),
                      f.M.cols()));
  require(f.M.allFinite(), "M: expected finite numbers, got others");
  const auto fits = [](const Strings& names, Index n, const char* field) {
    require(static_cast<Index>(names.size()) == n,
            fmt::format("{}: expected {} names, got {}", field, n, names.size()));
  };
  fits(f.inputs, f.W.cols(), "inputs");
  fits(f.outputs, f.W.rows(), "outputs");
}

Matrix<double> lateral(const NetworkFigure& f) {
  Matrix<double> out = -f.M;
  out.diagonal().setZero();
  return out;
}

// Of the page, in pixels from its upper left corner. All nodes are of one size.
struct Layout {
  double node_width = 0, node_height = least_node;
  double spacing, activity_y, bus_y, output_y, input_y, legend_y;
  Strings title;
  std::vector<gnuplot::Entry> legend;
  std::size_t legend_columns;
  gnuplot::Page page;

  explicit Layout(const NetworkFigure& f) : legend(legend_of(f)) {
    node_width = std::max(80.0, 2 * (corner + foot_step * static_cast<double>(f.W.rows())));
    for (const Strings* names : {&f.inputs, &f.outputs}) {
      for (const std::string& name : *names) {
        const Strings lines = wrapped(name, font, name_room);
        node_width = std::max(node_width, width_of(lines, font) + 20);
        node_height = std::max(node_height, text_line * static_cast<double>(lines.size()) + 16);
      }
    }
    const auto most = static_cast<double>(std::max(f.inputs.size(), f.outputs.size()));
    page.width = std::max(least_width, most * (node_width + between));
    spacing = page.width / most;
    title = wrapped(f.title, title_font, page.width - 2 * pad);
    activity_y = pad + text_line * static_cast<double>(title.size()) + least_node / 2;
    bus_y = activity_y + least_node / 2 + 18;
    output_y = bus_y + 34 + arc_height(f.W.rows() - 1) + node_height / 2;
    input_y = output_y + layers;
    legend_y = input_y + node_height / 2 + 1.5 * pad;
    legend_columns = gnuplot::columns_of(legend, page.width - 2 * pad);
    page.height = legend_y + gnuplot::height_of(legend, legend_columns) + pad;
    page.font = fmt::format("sans-serif,{}", font);
    page.png_scale = 2;
  }

  static double arc_height(Index steps) {
    return steps == 0 ? 0 : 20 + arc_step * static_cast<double>(steps);
  }

  // The middle of a node, one of n.
  double x(Index k, Index n) const {
    return page.width / 2 + spacing * (static_cast<double>(k) - static_cast<double>(n - 1) / 2);
  }

  static std::vector<gnuplot::Entry> legend_of(const NetworkFigure& f) {
    const std::string thick = fmt::format("dt 1 lw {} lc rgb '#909090'", thickest);
    const double largest = lateral(f).cwiseAbs().maxCoeff();
    std::vector<gnuplot::Entry> out{{"positive weight", fmt::format("lw 3 lc rgb '{}'", gnuplot::blue)},
                                    {"negative weight", fmt::format("lw 3 lc rgb '{}'", gnuplot::red)},
                                    {fmt::format("|W| = {:.2g}", f.W.cwiseAbs().maxCoeff()), thick}};
    if (largest > 0)
      out.push_back({fmt::format("|M| = {:.2g}", largest), thick, "pt 7 ps 1.6 lc rgb '#909090'"});
    return out;
  }
};

// A rectangle with round corners, as a polygon.
Matrix<double> rounded(double x, double y, double width, double height, double r) {
  constexpr Index corners = 64;
  Matrix<double> out(corners + 1, 2);
  for (Index k = 0; k <= corners; ++k) {
    const double angle = 2 * std::numbers::pi * (static_cast<double>(k) + 0.5) / corners;
    const double side_x = std::cos(angle) > 0 ? 1 : -1;
    const double side_y = std::sin(angle) > 0 ? 1 : -1;
    out.row(k) << x + r * std::cos(angle) + side_x * (width / 2 - r),
        y + r * std::sin(angle) + side_y * (height / 2 - r);
  }
  return out;
}

class Script {
 public:
  Script(const NetworkFigure& f, const Layout& at) : figure_(f), at_(at) {
    broadcast();
    feedforward();
    laterals();
    nodes(f.inputs, at.input_y);
    nodes(f.outputs, at.output_y);
    node(activity, at.page.width / 2, at.activity_y, std::max(least_node, width_of(activity, font) + 24),
         least_node, pale_sky, gnuplot::sky);
    text_ += at.page.axes(0, 0, at.page.width, at.page.height);
    text_ += fmt::format(
        "set xrange [0:{0}]\nset yrange [{1}:0]\nunset tics\nunset border\nunset key\nset style fill solid "
        "noborder\n",
        at.page.width, at.page.height);
    text_ += at.page.write(at.title, at.page.width / 2, pad / 2 + text_line / 2, text_line,
                           fmt::format("center font ',{}'", title_font));
    const double width = width_of(at.legend);
    text_ += at.page.legend(at.legend, (at.page.width - width * static_cast<double>(at.legend_columns)) / 2,
                            at.legend_y, at.legend_columns, width);
    text_ += fmt::format("plot {}NaN notitle\n", plot_);
  }

  const std::string& text() const { return text_; }

 private:
  // From the total activity along a line above the arcs, down to every output.
  void broadcast() {
    const Index n = figure_.W.rows();
    const std::string style = fmt::format("dt 1 lw 2 lc rgb '{}'", gnuplot::sky);
    text_ += at_.page.line(at_.page.width / 2, at_.activity_y, at_.page.width / 2, at_.bus_y, style);
    text_ += at_.page.line(at_.x(0, n), at_.bus_y, at_.x(n - 1, n), at_.bus_y, style);
    for (Index k = 0; k < n; ++k) {
      text_ += fmt::format("set arrow from {} to {} head filled size screen {:.5f},20,60 fixed {}\n",
                           at_.page.at(at_.x(k, n), at_.bus_y),
                           at_.page.at(at_.x(k, n), at_.output_y - at_.node_height / 2), 14 / at_.page.width,
                           style);
    }
  }

  // Ends stand beside each other in the order of what they come from; nodes are drawn over them.
  void feedforward() {
    const Matrix<double>& W = figure_.W;
    const auto spread = [&](Index k, Index n) {
      return n < 2 ? 0 : at_.node_width * 0.5 * (static_cast<double>(k) / static_cast<double>(n - 1) - 0.5);
    };
    for (Index i = 0; i < W.rows(); ++i) {
      for (Index j = 0; j < W.cols(); ++j) {
        Matrix<double> ends(2, 2);
        ends << at_.x(j, W.cols()) + spread(i, W.rows()), at_.input_y,
            at_.x(i, W.rows()) + spread(j, W.cols()), at_.output_y;
        weight(ends, W(i, j), W.cwiseAbs().maxCoeff());
      }
    }
  }

  void laterals() {
    const Matrix<double> L = lateral(figure_);
    for (Index i = 0; i < L.rows(); ++i) {
      for (Index j = 0; j < L.rows(); ++j) {
        if (i != j) half_arc(i, j, L(i, j), L.cwiseAbs().maxCoeff());
      }
    }
  }

  // From the top of the arc between two outputs down to output i.
  void half_arc(Index i, Index j, double w, double largest) {
    if (w == 0) return;
    constexpr Index points = 33;
    const Index steps = std::abs(i - j);
    const double x = foot(i, j);
    const double middle = (x + foot(j, i)) / 2;
    const double y = at_.output_y - at_.node_height / 2 - 6;
    Matrix<double> arc(points, 2);
    for (Index k = 0; k < points; ++k) {
      const double angle =
          std::numbers::pi / 2 * static_cast<double>(k - 1) / (points - 2);  // a little over the top
      arc.row(k) << middle + (x - middle) * std::sin(angle), y - Layout::arc_height(steps) * std::cos(angle);
    }
    weight(arc, w, largest);
    const double end = 6 + thickness(w, largest);
    area(rounded(x, y, end, end, end / 2), colour_of(w));
  }

  // Where the arc to j stands on i: the nearer, the farther outside, so that arcs do not cross more than they
  // must.
  double foot(Index i, Index j) const {
    const Index n = figure_.W.rows();
    const double steps = foot_step * static_cast<double>(std::abs(i - j) - 1);
    return at_.x(i, n) + (j > i ? 1 : -1) * (at_.node_width / 2 - corner - steps);
  }

  void nodes(const Strings& names, double y) {
    const auto n = static_cast<Index>(names.size());
    for (Index k = 0; k < n; ++k) {
      node(names[static_cast<std::size_t>(k)], at_.x(k, n), y, at_.node_width, at_.node_height, "#FFFFFF",
           gnuplot::black);
    }
  }

  void node(const std::string& name, double x, double y, double width, double height, const char* fill,
            const char* edge) {
    const Matrix<double> shape = rounded(x, y, width, height, corner);
    area(shape, fill);
    curve(shape, fmt::format("lw 1.3 lc rgb '{}'", edge));
    const Strings lines = wrapped(name, font, name_room);
    text_ += at_.page.write(lines, x, y - text_line * (static_cast<double>(lines.size()) - 1) / 2, text_line,
                            "center front");
  }

  static const char* colour_of(double w) { return w > 0 ? gnuplot::blue : gnuplot::red; }
  static double thickness(double w, double largest) {
    return std::max(0.5, thickest * std::abs(w) / largest);
  }

  void weight(const Matrix<double>& points, double w, double largest) {
    if (w != 0) curve(points, fmt::format("lw {:.2f} lc rgb '{}'", thickness(w, largest), colour_of(w)));
  }

  void curve(const Matrix<double>& points, const std::string& style) {
    add(points, fmt::format("lines {}", style));
  }
  void area(const Matrix<double>& points, const char* colour) {
    add(points, fmt::format("filledcurves closed lc rgb '{}'", colour));
  }

  void add(const Matrix<double>& points, const std::string& how) {
    const std::string name = fmt::format("d{}", count_++);
    gnuplot::inline_data(text_, name, points);
    plot_ += fmt::format("${} using 1:2 with {} notitle, ", name, how);
  }

  const NetworkFigure& figure_;
  const Layout& at_;
  std::string text_, plot_;
  int count_ = 0;
};

}  // namespace

std::vector<std::filesystem::path> draw(const NetworkFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  const Layout layout(figure);
  return gnuplot::draw(Script(figure, layout).text(), layout.page, base);
}

}  // namespace demix::report
