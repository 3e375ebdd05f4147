#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"
#include "report/tics.hpp"

namespace demix::report {
namespace {

using gnuplot::literal;
using gnuplot::require;
using gnuplot::width_of;

// Points, then pixels. The page grows with the cells, the cells with what is written in them.
constexpr double font = 14;
constexpr double title_font = 17;
constexpr double line = 24;  // of text
constexpr double pad = 6;
constexpr double bar = 16;  // width of the colour bar
constexpr double least_cell = 36;

// viridis: equal steps look equal, to colour-blind readers too
constexpr std::array viridis{"#440154", "#472D7B", "#3B528B", "#2C728E", "#21918C",
                             "#28AE80", "#5EC962", "#ADDC30", "#FDE725"};
constexpr const char* grey = "#DDDDDD";
constexpr double dark = 0.45;  // share of the palette on which white is easier to read than black

void validate(const HeatMap& f) {
  const auto columns = static_cast<Index>(f.x.size());
  const auto rows = static_cast<Index>(f.y.size());
  require(columns > 0, "x: expected at least one name, got none");
  require(rows > 0, "y: expected at least one name, got none");
  require(f.values.rows() == rows && f.values.cols() == columns,
          fmt::format("values: expected {} x {}, one for each of y and x, got {} x {}", rows, columns,
                      f.values.rows(), f.values.cols()));
  require(f.texts.empty() || static_cast<Index>(f.texts.size()) == rows * columns,
          fmt::format("texts: expected {} or none, got {}", rows * columns, f.texts.size()));
  require(f.best_row < rows, fmt::format("best_row: expected below {}, got {}", rows, f.best_row));
  require(f.best_column < columns,
          fmt::format("best_column: expected below {}, got {}", columns, f.best_column));
  require(f.marked_row < rows, fmt::format("marked_row: expected below {}, got {}", rows, f.marked_row));
  require(f.marked_column < columns,
          fmt::format("marked_column: expected below {}, got {}", columns, f.marked_column));
  for (const double v : f.values.reshaped()) {
    require(std::isnan(v) || (std::isfinite(v) && v > 0),
            fmt::format("values: expected positive numbers or NaN, got {}", v));
  }
}

// Of the colours: a factor of three at least, so that there are numbers beside the bar.
AxisRange values_of(const HeatMap& f) {
  AxisRange r{std::numeric_limits<double>::infinity(), 0};
  for (const double v : f.values.reshaped()) {
    if (!std::isnan(v)) r = {std::min(r.lo, v), std::max(r.hi, v)};
  }
  if (r.hi == 0) return {0.1, 1};
  const double wider = std::sqrt(std::max(1.0, 3 * r.lo / r.hi));
  return {r.lo / wider, r.hi * wider};
}

double longest(const std::vector<std::string>& texts) { return width_of(texts, font); }

double lines_of(const std::string& text) {
  return 1 + static_cast<double>(std::count(text.begin(), text.end(), '\n'));
}

double most_lines(const std::vector<std::string>& texts) {
  double most = 1;
  for (const std::string& text : texts) most = std::max(most, lines_of(text));
  return most;
}

struct Layout {
  double left, top, across, down;  // of the cells
  bool upright;                    // names below the columns
  Tics values;
  std::vector<std::string> title;
  gnuplot::Canvas page;

  // Names and titles fit: what stands upright beside the cells is not longer than they are high.
  explicit Layout(const HeatMap& f) {
    left = 2 * pad + 1.5 * line + longest(f.y);
    const auto columns = static_cast<double>(f.x.size());
    const double inside = pad + std::max(least_cell - pad, longest(f.texts));
    upright = (pad + longest(f.x)) * columns > 0.6 * gnuplot::column_width;
    const double below = pad + line * 1.5 + (upright ? 2 * pad + longest(f.x) : line * most_lines(f.x));
    const double cell_across =
        upright ? std::max(inside, line * most_lines(f.x)) : std::max(inside, pad + longest(f.x));
    const double cell_down = pad + line * std::max(most_lines(f.y), most_lines(f.texts));
    down = std::max({200.0, cell_down * static_cast<double>(f.y.size()), width_of(f.y_label, font),
                     width_of(f.value_label, font)});
    values = tics_of({values_of(f), true, down}, font);
    const double right = 3 * pad + bar + values.width + 1.5 * line;
    across =
        std::max({gnuplot::column_width - left - right, cell_across * columns, width_of(f.x_label, font)});
    title = gnuplot::wrapped(f.title, title_font, left + across + right - 2 * pad);
    top = 2 * pad + line * static_cast<double>(title.size());
    page = {left + across + right, top + down + below, fmt::format("sans-serif,{}", font)};
  }
};

std::string palette() {
  std::string out;
  for (std::size_t i = 0; i < viridis.size(); ++i)
    out += fmt::format("{}{} '{}'", i == 0 ? "" : ", ", i, viridis[i]);
  return fmt::format("set palette maxcolors 256\nset palette defined ({})\n", out);
}

std::string frame_of(const HeatMap& f, const Layout& at) {
  const double middle = at.left + at.across / 2;
  const double half_way = at.top + at.down / 2;
  return at.page.axes(at.left, at.top, at.across, at.down) + at.page.heading(at.title, title_font, line) +
         at.page.write(f.x_label, middle, at.page.height - 0.75 * line, "center") +
         at.page.write(f.y_label, 0.75 * line, half_way, "center rotate by 90") +
         at.page.write(f.value_label, at.page.width - 0.75 * line, half_way, "center rotate by 90") +
         fmt::format(
             "set xtics {} scale 0 noenhanced {}\nset ytics {} scale 0 noenhanced\nset border 0\n"
             "set xrange [-0.5:{}.5]\nset yrange [{}.5:-0.5]\n",
             gnuplot::named_tics(f.x), at.upright ? "rotate by 90 right" : "norotate",
             gnuplot::named_tics(f.y), f.x.size() - 1, f.y.size() - 1);
}

std::string colour_bar(const Layout& at, const AxisRange& r) {
  return palette() + fmt::format(
                         "set logscale cb\nset cbrange [{:.6g}:{:.6g}]\nset cbtics ({})\n"
                         "set colorbox user origin {} size screen {:.5f},{:.5f} noborder\n",
                         r.lo, r.hi, at.values.text,
                         at.page.at(at.left + at.across + 2 * pad, at.top + at.down), bar / at.page.width,
                         at.down / at.page.height);
}

// Where every run failed; it leaves room for a text.
std::string cross(double row, double column, bool text) {
  const double inner = text ? 0.34 : 0;
  std::string out;
  for (const double right : {-1., 1.}) {
    for (const double down : {-1., 1.}) {
      out += fmt::format("set arrow from {},{} to {},{} nohead front lw 1 lc rgb '#A0A0A0'\n",
                         column + inner * right, row + inner * down, column + 0.5 * right, row + 0.5 * down);
    }
  }
  return out;
}

// What is in a cell, in a colour that can be read on it.
std::string inside(const HeatMap& f, Index row, Index column, const AxisRange& r) {
  const double v = f.values(row, column);
  const std::string text =
      f.texts.empty() ? "" : f.texts[static_cast<std::size_t>(row * f.values.cols() + column)];
  std::string out;
  if (std::isnan(v)) out += cross(static_cast<double>(row), static_cast<double>(column), !text.empty());
  if (!text.empty()) {
    const bool white = std::log(v / r.lo) < dark * std::log(r.hi / r.lo);
    out += fmt::format("set label {} at {},{} center offset 0,{} front noenhanced tc rgb '{}'\n",
                       literal(text), column, row, (lines_of(text) - 1) / 2, white ? "white" : "black");
  }
  return out;
}

// x, y, value: a line for each cell that has, or has not, a value
Matrix<double> cells(const HeatMap& f, bool with_value) {
  Matrix<double> out(f.values.size(), 3);
  Index n = 0;
  for (Index row = 0; row < f.values.rows(); ++row) {
    for (Index column = 0; column < f.values.cols(); ++column) {
      const double v = f.values(row, column);
      if (std::isnan(v) == with_value) continue;
      out.row(n++) << static_cast<double>(column), static_cast<double>(row), v;
    }
  }
  return out.topRows(n);
}

// Around a cell. Of widths of their own, or gnuplot would dash both in an SVG.
std::string frame(Index row, Index column, const char* look) {
  return fmt::format("set object rectangle center {},{} size 1,1 front fs empty border lc rgb '{}' {}\n",
                     column, row, gnuplot::red, look);
}

std::string script_for(const HeatMap& f, const Layout& at) {
  const AxisRange r = values_of(f);
  std::string s = frame_of(f, at) + colour_bar(at, r);
  for (Index row = 0; row < f.values.rows(); ++row) {
    for (Index column = 0; column < f.values.cols(); ++column) s += inside(f, row, column, r);
  }
  if (f.best_row >= 0 && f.best_column >= 0) s += frame(f.best_row, f.best_column, "lw 4 dt 1");
  if (f.marked_row >= 0 && f.marked_column >= 0) s += frame(f.marked_row, f.marked_column, "lw 3.9 dt '.'");
  gnuplot::inline_data(s, "measured", cells(f, true));
  gnuplot::inline_data(s, "failed", cells(f, false));
  s += "set style fill solid border lc rgb 'white'\n";
  s += "plot $measured using 1:2:(0.5):(0.5):3 with boxxyerror lc palette notitle, ";
  s += fmt::format("$failed using 1:2:(0.5):(0.5) with boxxyerror lc rgb '{}' notitle\n", grey);
  return s;
}

}  // namespace

std::vector<std::filesystem::path> draw(const HeatMap& figure, const std::filesystem::path& base) {
  validate(figure);
  const Layout layout(figure);
  return gnuplot::draw(script_for(figure, layout), layout.page, base);
}

}  // namespace demix::report
