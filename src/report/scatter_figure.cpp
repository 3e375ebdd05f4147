#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <numeric>
#include <random>

#include "demix/report.hpp"
#include "report/panels.hpp"

namespace demix::report {
namespace {

using Arrow = ScatterFigure::Arrow;
using Panel = ScatterFigure::Panel;
using gnuplot::require;
using Labels = std::vector<std::string>;

constexpr double side = 220;         // of the axes, in pixels, about
constexpr Index most_points = 5000;  // drawn in a panel
constexpr const char* point_colour = "#93A8BA";
constexpr std::array colours{gnuplot::red,    gnuplot::blue,   gnuplot::green,
                             gnuplot::purple, gnuplot::orange, gnuplot::sky};  // of sources
constexpr std::array dashes{"1", "'-'", "'.'", "'_.'"};                        // of directions

void validate(const std::vector<Arrow>& arrows, const std::string& name) {
  for (std::size_t k = 0; k < arrows.size(); ++k) {
    require(gnuplot::drawable(arrows[k].x) && gnuplot::drawable(arrows[k].y),
            fmt::format("{}[{}]: expected finite numbers, got {}, {}", name, k, arrows[k].x, arrows[k].y));
  }
}

void validate(const Panel& p, const std::string& name) {
  require(p.points.size() == 0 || p.points.rows() == 2,
          fmt::format("{}.points: expected two rows, got {}", name, p.points.rows()));
  require(p.points.unaryExpr(&gnuplot::drawable).all(),
          name + ".points: expected finite numbers, got others");
  validate(p.sources, name + ".sources");
  validate(p.directions, name + ".directions");
}

Labels labels_of(const ScatterFigure& f, std::vector<Arrow> Panel::*arrows) {
  Labels labels;
  for (const Panel& p : f.panels) {
    for (const Arrow& a : p.*arrows) gnuplot::place_of(a.label, labels);
  }
  return labels;
}

void validate(const ScatterFigure& f) {
  require(!f.panels.empty() && f.panels.size() <= 6,
          fmt::format("panels: expected 1 to 6, got {}", f.panels.size()));
  for (std::size_t i = 0; i < f.panels.size(); ++i) validate(f.panels[i], fmt::format("panels[{}]", i));
}

// The origin is in the middle.
double limit_of(const Panel& p) {
  double limit = p.points.size() == 0 ? 0 : p.points.cwiseAbs().maxCoeff();
  for (const auto* arrows : {&p.sources, &p.directions}) {
    for (const Arrow& a : *arrows) limit = std::max({limit, std::abs(a.x), std::abs(a.y)});
  }
  return limit > 1e-100 ? 1.06 * limit : 1;
}

// x, y: a line per point. Some of many, at random, as every tenth of a sine is another sine.
Matrix<double> shown(const Matrix<double>& points) {
  if (points.size() == 0) return {};
  std::vector<Index> all(static_cast<std::size_t>(points.cols()));
  std::iota(all.begin(), all.end(), 0);
  std::vector<Index> some;
  std::sample(all.begin(), all.end(), std::back_inserter(some), most_points, std::mt19937_64(1));
  return points(Eigen::all, some).transpose();
}

// A dot is a line as long as it is thick: much shorter in an SVG than gnuplot's points.
std::string points_of(const Panel& p, double limit) {
  const Matrix<double> points = shown(p.points);
  if (points.size() == 0) return "plot NaN notitle\n";
  const double dot = points.rows() <= 300 ? 4 : points.rows() <= 1500 ? 2.8 : 1.7;  // pixels
  const double length = dot * 2 * limit / side;
  std::string out;
  gnuplot::inline_data(out, "points", points);
  return out + fmt::format(
                   "plot $points using ($1-{0:.6g}):2:({1:.6g}):(0) with vectors nohead lw {2} lc rgb '{3}' "
                   "notitle\n",
                   length / 2, length, dot, point_colour);
}

std::string source_style(std::size_t place) {
  return fmt::format("dt {} lw 4 lc rgb '{}'", gnuplot::dashes[place % colours.size()],
                     colours[place % colours.size()]);
}

// Whole, and of another width than the shaft: see below.
std::string head_style(std::size_t place) {
  return fmt::format("dt 1 lw 3.9 lc rgb '{}'", colours[place % colours.size()]);
}

// In an SVG gnuplot keeps the dashes of the line before unless colour or width change: so no two are as wide.
std::string direction_style(std::size_t place) {
  return fmt::format("dt {} lw {:.2f} lc rgb '{}'", dashes[place % dashes.size()],
                     1.8 + 0.01 * static_cast<double>(place), gnuplot::black);
}

// Its head is a second arrow, or gnuplot would dash it too.
std::string arrow(const Arrow& a, double head, const std::string& shaft_style,
                  const std::string& head_style) {
  const double length = std::hypot(a.x, a.y);
  const double shaft = 1 - 0.5 * head / std::max(head, length);
  return fmt::format(
      "set arrow from 0,0 to {:.6g},{:.6g} front nohead {}\n"
      "set arrow from {:.6g},{:.6g} to {:.6g},{:.6g} front size {:.6g},19,60 fixed filled {}\n",
      shaft * a.x, shaft * a.y, shaft_style, 0.98 * a.x, 0.98 * a.y, a.x, a.y, std::min(head, length / 2),
      head_style);
}

std::vector<gnuplot::Entry> legend_of(const Labels& sources, const Labels& directions) {
  std::vector<gnuplot::Entry> entries;
  for (std::size_t k = 0; k < sources.size(); ++k) entries.push_back({sources[k], source_style(k)});
  for (std::size_t k = 0; k < directions.size(); ++k) entries.push_back({directions[k], direction_style(k)});
  std::erase_if(entries, [](const gnuplot::Entry& e) { return e.text.empty(); });
  return entries;
}

}  // namespace

std::vector<std::filesystem::path> draw(const ScatterFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  Labels sources = labels_of(figure, &Panel::sources);
  Labels directions = labels_of(figure, &Panel::directions);
  Panels panels{figure.title, {}, legend_of(sources, directions), true};
  for (const Panel& p : figure.panels) {
    const double limit = limit_of(p);
    std::string script;  // thin arrows over thick ones: both are seen where they point the same way
    for (const Arrow& a : p.sources) {
      const std::string style = source_style(gnuplot::place_of(a.label, sources));
      script += arrow(a, 0.18 * limit, style, head_style(gnuplot::place_of(a.label, sources)));
    }
    for (const Arrow& a : p.directions) {
      script += arrow(a, 0.13 * limit, direction_style(gnuplot::place_of(a.label, directions)),
                      "dt 1 lw 1.7 lc rgb 'black'");
    }
    script += points_of(p, limit);
    panels.axes.push_back(
        {p.title, p.x_label, p.y_label, {-limit, limit}, {-limit, limit}, false, false, {}, script});
  }
  return draw(panels, base);
}

}  // namespace demix::report
