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
constexpr double between = 34;     // nodes of a layer: room for the leak
constexpr double layers = 170;     // from sources to inputs, and from there to the synapses
constexpr double trunk = 62;       // from dendrite to soma
constexpr double synapses = 30;    // below the dendrite
constexpr double arc_step = 26;    // of the height of arcs, with each node between its ends
constexpr double thickest = 7;
constexpr double labels = 94;      // at the left: what each layer is
constexpr double modulator = 104;  // at the right: what modulates
constexpr const char* pale_sky = "#DCEFFA";
constexpr const char* grey = "#808080";
constexpr const char* activity = "Σ y²";

void validate(const NetworkFigure& f) {
  require(f.W.size() > 0, "W: expected outputs x inputs, got none");
  require(f.W.allFinite(), "W: expected finite numbers, got others");
  require(f.M.rows() == f.W.rows() && f.M.cols() == f.W.rows(),
          fmt::format("M: expected {0} x {0}, as many as W has rows, got {1} x {2}", f.W.rows(), f.M.rows(),
                      f.M.cols()));
  require(f.M.allFinite(), "M: expected finite numbers, got others");
  require(f.A.size() == 0 || f.A.rows() == f.W.cols(),
          fmt::format("A: expected {} rows, one for each input, got {}", f.W.cols(), f.A.rows()));
  require(f.A.allFinite(), "A: expected finite numbers, got others");
  const auto fits = [](const Strings& names, Index n, const char* field) {
    require(static_cast<Index>(names.size()) == n,
            fmt::format("{}: expected {} names, got {}", field, n, names.size()));
  };
  fits(f.sources, f.A.cols(), "sources");
  fits(f.inputs, f.W.cols(), "inputs");
  fits(f.outputs, f.W.rows(), "outputs");
}

Matrix<double> lateral(const NetworkFigure& f) {
  Matrix<double> out = f.M;
  out.diagonal().setZero();
  return out;
}

// Of the page, in pixels from its upper left corner. All nodes are of one size.
struct Layout {
  double node_width = 0, node_height = least_node;
  double right = 0;  // beside the network
  double spacing, soma_y, bus_y, dendrite_y, synapse_y, input_y, source_y, legend_y;
  Strings title;
  std::vector<gnuplot::Entry> legend;
  std::size_t legend_columns;
  gnuplot::Canvas page;

  explicit Layout(const NetworkFigure& f) : legend(legend_of(f)) {
    node_width = std::max(90.0, 2 * (corner + foot_step * static_cast<double>(f.W.rows())));
    for (const Strings* names : {&f.sources, &f.inputs, &f.outputs}) {
      for (const std::string& name : *names) {
        const Strings lines = wrapped(name, font, name_room);
        node_width = std::max(node_width, width_of(lines, font) + 20);
        node_height = std::max(node_height, text_line * static_cast<double>(lines.size()) + 16);
      }
    }
    const auto most = static_cast<double>(std::max({f.sources.size(), f.inputs.size(), f.outputs.size()}));
    spacing = node_width + between;
    right = f.point_neurons ? pad : modulator;
    page.width = std::max(
        {gnuplot::column_width, labels + most * spacing + right, gnuplot::width_of(legend) + 2 * pad});
    spacing = (page.width - labels - right) / most;  // all of it
    title = wrapped(f.title, title_font, page.width - 2 * pad);
    const double soma_height = node_height + text_line;  // the leak is written below the name
    soma_y = pad + text_line * static_cast<double>(title.size()) + 12 + arc_height(f.W.rows() - 1) +
             soma_height / 2;
    bus_y = soma_y + soma_height / 2 + trunk / 2;
    dendrite_y = f.point_neurons ? soma_y : soma_y + soma_height / 2 + trunk + node_height / 2;
    synapse_y = dendrite_y + (f.point_neurons ? soma_height : node_height) / 2 + synapses;
    input_y = synapse_y + layers;
    source_y = input_y + (f.A.size() > 0 ? layers + node_height : 0);
    legend_y = source_y + node_height / 2 + 1.5 * pad;
    legend_columns = std::min<std::size_t>(3, gnuplot::columns_of(legend, page.width - 2 * pad));
    page.height = legend_y + gnuplot::height_of(legend, legend_columns) + pad;
    page.font = fmt::format("sans-serif,{}", font);
  }

  static double arc_height(Index steps) {
    return steps == 0 ? 0 : 20 + arc_step * static_cast<double>(steps);
  }

  double soma_height() const { return node_height + text_line; }

  // The middle of a node, one of n.
  double x(Index k, Index n) const {
    const double middle = labels + (page.width - labels - right) / 2;
    return middle + spacing * (static_cast<double>(k) - static_cast<double>(n - 1) / 2);
  }

  static std::vector<gnuplot::Entry> legend_of(const NetworkFigure& f) {
    const std::string thick = fmt::format("dt 1 lw {} lc rgb '{}'", thickest, grey);
    const std::string round = fmt::format("pt 7 ps 1.6 lc rgb '{}'", grey);
    const double largest = lateral(f).cwiseAbs().maxCoeff();
    std::vector<gnuplot::Entry> out{
        {"excites: W > 0, M < 0", fmt::format("lw 3 lc rgb '{}'", gnuplot::blue),
         fmt::format("pt 7 ps 1.6 lc rgb '{}'", gnuplot::blue)},
        {"inhibits: W < 0, M > 0", fmt::format("lw 3 lc rgb '{}'", gnuplot::red),
         fmt::format("pt 6 ps 1.6 lw 2.5 lc rgb '{}'", gnuplot::red)},
        {fmt::format("largest |W| {:.2g}", f.W.cwiseAbs().maxCoeff()), thick, round}};
    if (!f.point_neurons) {
      out.insert(out.begin() + 2,
                 {"modulates the plasticity of W", fmt::format("lw 2 lc rgb '{}'", gnuplot::sky)});
    }
    if (largest > 0) out.push_back({fmt::format("largest |M|, i ≠ j {:.2g}", largest), thick, round});
    if (f.A.size() > 0) {
      out.push_back({fmt::format("largest |A| {:.2g}; A < 0 dashed", f.A.cwiseAbs().maxCoeff()), thick});
    }
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
    const Index n = f.W.rows();
    if (!f.point_neurons) modulation();
    mixing();
    feedforward();
    laterals();
    if (f.A.size() > 0) nodes(f.sources, at.source_y, "source");
    nodes(f.inputs, at.input_y, "input");
    for (Index i = 0; i < n; ++i) {
      leak(i);
      if (!f.point_neurons) {
        Matrix<double> axis(2, 2);
        axis << at.x(i, n), at.soma_y, at.x(i, n), at.dendrite_y;
        curve(axis, fmt::format("lw 5 lc rgb '{}'", gnuplot::black));
        node(fmt::format("c{}", i + 1), at.x(i, n), at.dendrite_y, at.node_width, at.node_height, "#FFFFFF",
             gnuplot::black);
      }
      node(f.outputs[static_cast<std::size_t>(i)], at.x(i, n), at.soma_y, at.node_width, at.soma_height(),
           "#FFFFFF", gnuplot::black, fmt::format("leak {:.2g}", f.M(i, i)));
    }
    if (!f.point_neurons) row("dendrite", at.dendrite_y);
    row(f.point_neurons ? "output" : "soma", at.soma_y);
    text_ += at.page.axes(0, 0, at.page.width, at.page.height);
    text_ += fmt::format(
        "set xrange [0:{0}]\nset yrange [{1}:0]\nunset tics\nunset border\nunset key\nset style fill solid "
        "noborder\n",
        at.page.width, at.page.height);
    text_ += at.page.heading(at.title, title_font, text_line);
    text_ += at.page.legend(at.legend, at.page.width / 2, at.legend_y, at.legend_columns);
    text_ += fmt::format("plot {}NaN notitle\n", plot_);
  }

  const std::string& text() const { return text_; }

 private:
  // From every soma to the total activity, and from there to the feedforward synapses and nothing else.
  void modulation() {
    const Index n = figure_.W.rows();
    const std::string style = fmt::format("dt 1 lw 2 lc rgb '{}'", gnuplot::sky);
    const double node_x = at_.page.width - modulator / 2 + 6;
    const double left = at_.x(0, n) - at_.node_width / 2 - 10;
    const double right = at_.x(n - 1, n) + at_.node_width / 2 + 10;
    area(rounded((left + right) / 2, at_.synapse_y - 4, right - left, synapses, corner), pale_sky);
    for (Index k = 0; k < n; ++k) {
      const double x = at_.x(k, n) + 0.3 * at_.node_width;
      text_ += at_.page.line(x, at_.soma_y, x, at_.bus_y, style);
    }
    text_ += at_.page.line(at_.x(0, n) + 0.3 * at_.node_width, at_.bus_y, node_x, at_.bus_y, style);
    text_ += at_.page.line(node_x, at_.bus_y, node_x, at_.synapse_y - 4, style);
    text_ += fmt::format("set arrow from {} to {} head filled size screen {:.5f},20,60 fixed {}\n",
                         at_.page.at(node_x, at_.synapse_y - 4), at_.page.at(right, at_.synapse_y - 4),
                         14 / at_.page.width, style);
    node(activity, node_x, at_.bus_y, width_of(activity, font) + 24, least_node, pale_sky, gnuplot::sky);
  }

  // Ends stand beside each other in the order of what they come from; nodes are drawn over them.
  double spread(Index k, Index n) const {
    return n < 2 ? 0 : at_.node_width * 0.6 * (static_cast<double>(k) / static_cast<double>(n - 1) - 0.5);
  }

  void mixing() {
    const Matrix<double>& A = figure_.A;
    for (Index i = 0; i < A.rows(); ++i) {
      for (Index j = 0; j < A.cols(); ++j) {
        if (A(i, j) == 0) continue;
        Matrix<double> ends(2, 2);
        ends << at_.x(j, A.cols()) + spread(i, A.rows()), at_.source_y,
            at_.x(i, A.rows()) + spread(j, A.cols()), at_.input_y;
        curve(ends, fmt::format("lw {:.2f} lc rgb '{}' dt {}", thickness(A(i, j), A.cwiseAbs().maxCoeff()),
                                grey, A(i, j) > 0 ? "1" : "'-'"));
      }
    }
  }

  // To the synapses below the dendrites.
  void feedforward() {
    const Matrix<double>& W = figure_.W;
    for (Index i = 0; i < W.rows(); ++i) {
      for (Index j = 0; j < W.cols(); ++j) {
        const double x = at_.x(i, W.rows()) + spread(j, W.cols());
        Matrix<double> way(3, 2);
        way << at_.x(j, W.cols()) + spread(i, W.rows()), at_.input_y, x, at_.synapse_y, x, at_.dendrite_y;
        weight(way, W(i, j), W.cwiseAbs().maxCoeff());
        if (W(i, j) != 0) end(x, at_.synapse_y - 4, W(i, j), W.cwiseAbs().maxCoeff());
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

  // From the top of the arc between two outputs down to output i. M > 0 inhibits.
  void half_arc(Index i, Index j, double w, double largest) {
    if (w == 0) return;
    constexpr Index points = 33;
    const Index steps = std::abs(i - j);
    const double x = foot(i, j);
    const double middle = (x + foot(j, i)) / 2;
    const double y = at_.soma_y - at_.soma_height() / 2 - 6;
    Matrix<double> arc(points, 2);
    for (Index k = 0; k < points; ++k) {
      const double angle =
          std::numbers::pi / 2 * static_cast<double>(k - 1) / (points - 2);  // a little over the top
      arc.row(k) << middle + (x - middle) * std::sin(angle), y - Layout::arc_height(steps) * std::cos(angle);
    }
    weight(arc, -w, largest);
    end(x, y, -w, largest);
  }

  // Where the arc to j stands on i: the nearer, the farther outside, so that arcs do not cross more than they
  // must.
  double foot(Index i, Index j) const {
    const Index n = figure_.W.rows();
    const double steps = foot_step * static_cast<double>(std::abs(i - j) - 1);
    return at_.x(i, n) + (j > i ? 1 : -1) * (at_.node_width / 2 - corner - steps);
  }

  // M_ii: a line from the soma to the ground, three bars of falling length.
  void leak(Index i) {
    const double thick = thickness(figure_.M(i, i), figure_.M.diagonal().cwiseAbs().maxCoeff()) / 2;
    const double x = at_.x(i, figure_.W.rows()) - at_.node_width / 2;
    Matrix<double> way(3, 2);
    way << x, at_.soma_y, x - 18, at_.soma_y, x - 18, at_.soma_y + 20;
    const std::string style = fmt::format("lw {:.2f} lc rgb '{}'", thick, gnuplot::black);
    curve(way, style);
    for (int k = 0; k < 3; ++k) {
      Matrix<double> bar(2, 2);
      const double half = 9 - 3 * k;
      const double y = at_.soma_y + 20 + 5 * k;
      bar << x - 18 - half, y, x - 18 + half, y;
      curve(bar, fmt::format("lw 1.6 lc rgb '{}'", gnuplot::black));
    }
  }

  void nodes(const Strings& names, double y, const char* what) {
    const auto n = static_cast<Index>(names.size());
    for (Index k = 0; k < n; ++k) {
      node(names[static_cast<std::size_t>(k)], at_.x(k, n), y, at_.node_width, at_.node_height, "#FFFFFF",
           gnuplot::black);
    }
    row(what, y);
  }

  // What a layer is, at the left.
  void row(const char* what, double y) {
    text_ += at_.page.write(what, pad, y, fmt::format("left tc rgb '{}'", grey));
  }

  // `below`: written under the name, if anything.
  void node(const std::string& name, double x, double y, double width, double height, const char* fill,
            const char* edge, const std::string& below = {}) {
    const Matrix<double> shape = rounded(x, y, width, height, corner);
    area(shape, fill);
    curve(shape, fmt::format("lw 1.3 lc rgb '{}'", edge));
    Strings lines = wrapped(name, font, name_room);
    if (!below.empty()) lines.push_back(below);
    text_ += at_.page.write(lines, x, y - text_line * (static_cast<double>(lines.size()) - 1) / 2, text_line,
                            "center front");
  }

  void end(double x, double y, double w, double largest) {
    const double size = 6 + thickness(w, largest);
    area(rounded(x, y, size, size, size / 2), colour_of(w));
    const double hole = 0.55 * size;  // inhibitory synapses are rings, so that they are told apart in grey
    if (w < 0) area(rounded(x, y, hole, hole, hole / 2), "#FFFFFF");
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
