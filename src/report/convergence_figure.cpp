#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

namespace demix::report {
namespace {

using Curve = ConvergenceFigure::Curve;
using Panel = ConvergenceFigure::Panel;
using gnuplot::colours;
using gnuplot::require;

constexpr double smallest = 1e-8;
constexpr double largest = 1e2;

// Points, then pixels. Each panel is as wide as a column; the legend is below its axes.
constexpr double font = 14;
constexpr double title_font = 17;
constexpr double line = 25;
constexpr double down = 330;
constexpr double left = 92;  // of the axes: their numbers and label
constexpr double right = 25;
constexpr double below = 85;   // numbers and label again
constexpr double bar_gap = 4;  // between error bars

constexpr const char* grey = "#707070";
constexpr std::array points{7, 5, 9, 11, 13, 15, 2, 6, 4, 8, 10, 12, 14, 1};  // filled, then open
static_assert(points.size() == 2 * colours.size());

void validate(const Curve& c, const std::string& name, std::size_t frames) {
  const auto fits = [&](const std::vector<double>& v, const char* field) {
    require(v.size() == frames, fmt::format("{}.{}: expected {} values, one for each of frames, got {}", name,
                                            field, frames, v.size()));
  };
  fits(c.median, "median");
  fits(c.low, "low");
  fits(c.high, "high");
  require(c.separated >= 0 && c.separated <= c.runs,
          fmt::format("{}.separated: expected 0 to runs = {}, got {}", name, c.runs, c.separated));
  require(c.diverged >= 0 && c.diverged <= c.runs - c.separated,
          fmt::format("{}.diverged: expected 0 to {}, the runs that have not separated, got {}", name,
                      c.runs - c.separated, c.diverged));
}

void validate(const Panel& p, const std::string& name) {
  require(!p.frames.empty(), name + ".frames: expected at least one, got none");
  for (std::size_t i = 0; i < p.frames.size(); ++i) {
    require(std::isfinite(p.frames[i]) && p.frames[i] > (i == 0 ? 0 : p.frames[i - 1]),
            fmt::format("{}.frames[{}]: expected positive and increasing, got {}", name, i, p.frames[i]));
  }
  for (std::size_t k = 0; k < p.curves.size(); ++k) {
    const Curve& c = p.curves[k];
    const std::string curve = fmt::format("{}.curves[{}]", name, k);
    validate(c, curve, p.frames.size());
    const auto same = [&](const Curve& other) { return other.label == c.label; };
    require(std::find_if(p.curves.begin(), p.curves.end(), same) - p.curves.begin() ==
                static_cast<std::ptrdiff_t>(k),
            fmt::format("{}.label: expected one curve of that name, got a second \"{}\"", curve, c.label));
  }
}

void validate(const ConvergenceFigure& f) {
  require(!f.panels.empty() && f.panels.size() <= 6,
          fmt::format("panels: expected 1 to 6, got {}", f.panels.size()));
  require(std::isfinite(f.threshold) && f.threshold > 0,
          fmt::format("threshold: expected a positive number, got {}", f.threshold));
  for (std::size_t i = 0; i < f.panels.size(); ++i) validate(f.panels[i], fmt::format("panels[{}]", i));
}

// In the order they are first met: the place says what the curve looks like.
std::vector<std::string> labels_of(const ConvergenceFigure& f) {
  std::vector<std::string> labels;
  for (const Panel& p : f.panels) {
    for (const Curve& c : p.curves) gnuplot::place_of(c.label, labels);
  }
  require(labels.size() <= points.size(),
          fmt::format("panels: expected up to {} different labels, got {}", points.size(), labels.size()));
  return labels;
}

std::string entry_of(const Curve& c) {
  if (c.runs == 0) return c.label;
  return fmt::format("{}  {}/{}{}", c.label, c.separated, c.runs,
                     c.diverged > 0 ? fmt::format(", {} diverged", c.diverged) : "");
}

std::string threshold_entry(const ConvergenceFigure& f) {
  return fmt::format("separated (n of all) below {}", f.threshold);
}

// What stands below a panel; `look(curve)`: its line and its point.
template <typename Look>
std::vector<gnuplot::Entry> legend_of(const ConvergenceFigure& f, const Panel& p, const Look& look) {
  std::vector<gnuplot::Entry> entries;
  for (const Curve& c : p.curves) entries.push_back(look(c));
  entries.push_back({threshold_entry(f), fmt::format("dt '-' lw 1.2 lc rgb '{}'", grey)});
  return entries;
}

// The powers of ten around all that is drawn.
AxisRange errors_of(const ConvergenceFigure& f) {
  AxisRange r{f.threshold, f.threshold};
  const auto include = [&](const std::vector<double>& values) {
    for (const double v : values) {
      if (std::isfinite(v)) r = {std::min(r.lo, v), std::max(r.hi, v)};
    }
  };
  for (const Panel& p : f.panels) {
    for (const Curve& c : p.curves) {
      include(c.median);
      include(c.low);
      include(c.high);
    }
  }
  const double lo = std::floor(std::log10(std::clamp(r.lo, smallest, largest / 10)));
  const double hi = std::ceil(std::log10(std::clamp(r.hi, smallest * 10, largest)));
  return {std::pow(10, lo), std::pow(10, std::max(hi, lo + 1))};
}

// Room for the markers at both ends, and a decade at least, so that there is a number on the axis.
AxisRange frames_of(const Panel& p) {
  const AxisRange r{p.frames.front() / 1.5, p.frames.back() * 1.5};
  if (r.hi >= 10 * r.lo) return r;
  return {std::pow(10, std::floor(std::log10(r.lo))), std::pow(10, std::ceil(std::log10(r.hi)))};
}

// Error bars stand beside each other: every curve is moved a little in x. Where frames are too close for
// that, the curves take turns at the frames, and so do the markers when frames are many.
struct Spacing {
  Index turns = 1;
  Index places = 1;
  double step = 0;  // of log x
  bool all_marked = true;

  Spacing(const Panel& p, const AxisRange& x, double across) {
    const auto curves = std::max<Index>(1, static_cast<Index>(p.curves.size()));
    const auto frames = static_cast<Index>(p.frames.size());
    const double pixel = std::log(x.hi / x.lo) / across;
    double free = 0.7 * 100 * pixel;
    if (frames > 1) {
      free = std::min(free,
                      0.7 * std::log(p.frames.back() / p.frames.front()) / static_cast<double>(frames - 1));
    }
    const auto room = std::clamp<Index>(static_cast<Index>(free / (bar_gap * pixel)), 1, curves);
    turns = std::min({frames, Index{3}, (curves + room - 1) / room});
    all_marked = frames <= 20;
    if (!all_marked) turns = std::max(turns, frames / 12);
    places = (curves + turns - 1) / turns;
    step = std::min(bar_gap * pixel, free / static_cast<double>(places));
  }

  double factor(Index curve) const {
    const Index place = curve / turns;
    return std::exp(step * (static_cast<double>(place) - static_cast<double>(places - 1) / 2));
  }
  std::string bars(Index curve) const { return fmt::format("every {}::{}", turns, curve % turns); }
  std::string markers(Index curve) const { return all_marked ? "" : bars(curve); }
};

// Of a page, in pixels.
struct Layout {
  double column, across;       // widths: a panel, its axes
  double top, row, above = 0;  // heights: the title, a panel, what is written above its axes
  std::size_t columns;
  std::vector<std::string> title;
  gnuplot::Canvas page;

  static std::vector<gnuplot::Entry> words(const ConvergenceFigure& f, const Panel& p) {
    return legend_of(f, p, [](const Curve& c) { return gnuplot::Entry{entry_of(c)}; });
  }

  explicit Layout(const ConvergenceFigure& f) {
    columns = std::min<std::size_t>(2, f.panels.size());
    const std::size_t rows = (f.panels.size() + columns - 1) / columns;
    column = gnuplot::column_width;
    double legend = 0;
    for (const Panel& p : f.panels) {
      column =
          std::max({column, gnuplot::width_of(words(f, p)), left + gnuplot::width_of(p.title, font) + right});
      above = std::max(above, p.title.empty() ? 15.0 : 45.0);
    }
    for (const Panel& p : f.panels) {
      legend = std::max(legend, gnuplot::height_of(words(f, p), gnuplot::columns_of(words(f, p), column)));
    }
    across = column - left - right;
    title = gnuplot::wrapped(f.title, title_font, column * static_cast<double>(columns) - 2 * right);
    row = above + down + below + legend + 15;
    top = title.empty() ? 0 : 10 + line * static_cast<double>(title.size());
    page = {column * static_cast<double>(columns), top + row * static_cast<double>(rows),
            fmt::format("sans-serif,{}", font)};
  }
};

class Script {
 public:
  Script(const ConvergenceFigure& f, const Layout& layout)
      : figure_(f), layout_(layout), labels_(labels_of(f)), errors_(errors_of(f)) {
    text_ =
        "set multiplot\nset logscale xy\nset border 3 lw 1.2\nset tics out nomirror\n"
        "set grid xtics ytics lt 1 lw 0.6 lc rgb '#D8D8D8'\nset errorbars 0.6\n"
        "set format x '10^{%L}'\nset format y '10^{%L}'\n"
        "unset key\n";
    text_ += fmt::format("set yrange [{}:{}]\n", errors_.lo, errors_.hi);
    text_ += layout.page.heading(layout.title, title_font, line);
    for (std::size_t i = 0; i < f.panels.size(); ++i) {
      const std::size_t row = i / layout.columns;
      const std::size_t column = i % layout.columns;
      panel(f.panels[i], layout.column * static_cast<double>(column),
            layout.top + layout.row * static_cast<double>(row));
      text_ += "unset label\nunset arrow\n";
    }
    text_ += "unset multiplot\n";
  }

  const std::string& text() const { return text_; }

 private:
  void panel(const Panel& p, double x, double y) {
    const AxisRange frames = frames_of(p);
    const Spacing spacing(p, frames, layout_.across);
    text_ += layout_.page.axes(x + left, y + layout_.above, layout_.across, down);
    text_ += fmt::format("set xrange [{:.6g}:{:.6g}]\n", frames.lo, frames.hi);
    text_ += layout_.page.write(p.title, x + left, y + layout_.above - 20, "left");
    text_ +=
        layout_.page.write("frames", x + left + layout_.across / 2, y + layout_.above + down + 55, "center");
    text_ += layout_.page.write("MSE", x + 20, y + layout_.above + down / 2, "center rotate by 90");
    const double threshold = std::clamp(figure_.threshold, errors_.lo, errors_.hi);
    text_ += fmt::format("set arrow from graph 0,first {0} to graph 1,first {0} nohead {1}\n", threshold,
                         fmt::format("dt '-' lw 1.2 lc rgb '{}'", grey));
    legend(p, x, y + layout_.above + down + below);
    curves(p, spacing);
  }

  void curves(const Panel& p, const Spacing& spacing) {
    std::string bars;
    std::string lines;
    for (Index k = 0; k < static_cast<Index>(p.curves.size()); ++k) {
      const Curve& c = p.curves[static_cast<std::size_t>(k)];
      const std::string name = fmt::format("d{}", count_++);
      gnuplot::inline_data(text_, name, drawn(p, c, spacing.factor(k)));
      bars += fmt::format("${} using 1:2:3:4 {} with yerrorbars lw 1 pt 0 lc rgb '{}', ", name,
                          spacing.bars(k), colour_of(c));
      lines += fmt::format("${0} using 1:2 with lines {1}, ${0} using 1:2 {2} with points {3}, ", name,
                           line_of(c), spacing.markers(k), point_of(c));
    }
    text_ += fmt::format("plot {}{}NaN\n", bars, lines);
  }

  void legend(const Panel& p, double x, double y) {
    const auto entries = legend_of(figure_, p, [&](const Curve& c) {
      return gnuplot::Entry{entry_of(c), line_of(c), point_of(c)};
    });
    const std::size_t columns = gnuplot::columns_of(entries, layout_.column);
    text_ += layout_.page.legend(entries, x + layout_.column / 2, y, columns);
  }

  std::size_t place(const Curve& c) { return gnuplot::place_of(c.label, labels_); }

  const char* colour_of(const Curve& c) { return colours[place(c) % colours.size()]; }

  std::string line_of(const Curve& c) {
    return fmt::format("lw 2 lc rgb '{}' dt {}", colour_of(c), place(c) < colours.size() ? "1" : "'-'");
  }

  std::string point_of(const Curve& c) {
    return fmt::format("pt {} ps 1.1 lc rgb '{}'", points[place(c)], colour_of(c));
  }

  // x, median, low, high: a line per frame
  Matrix<double> drawn(const Panel& p, const Curve& c, double factor) const {
    Matrix<double> rows(static_cast<Index>(p.frames.size()), 4);
    const auto clipped = [&](double v) { return std::isnan(v) ? v : std::clamp(v, errors_.lo, errors_.hi); };
    for (Index i = 0; i < rows.rows(); ++i) {
      const auto k = static_cast<std::size_t>(i);
      rows.row(i) << p.frames[k] * factor, clipped(c.median[k]), clipped(c.low[k]), clipped(c.high[k]);
    }
    return rows;
  }

  const ConvergenceFigure& figure_;
  const Layout& layout_;
  std::vector<std::string> labels_;
  AxisRange errors_;
  std::string text_;
  int count_ = 0;
};

}  // namespace

std::vector<std::filesystem::path> draw(const ConvergenceFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  const Layout layout(figure);
  return gnuplot::draw(Script(figure, layout).text(), layout.page, base);
}

}  // namespace demix::report
