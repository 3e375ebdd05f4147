#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "demix/report.hpp"
#include "report/panels.hpp"

namespace demix::report {
namespace {

using Curve = CurvesFigure::Curve;
using Panel = CurvesFigure::Panel;
using gnuplot::colours;
using gnuplot::drawable;
using gnuplot::require;
using Labels = std::vector<std::string>;

constexpr double widest_band = 100;  // a band widens a log axis by so many times at most
constexpr double tiniest = 1e-100;   // of what a log axis shows, and of what a linear one tells apart
constexpr double inf = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

void validate(const Curve& c, const std::string& name) {
  require(!c.x.empty(), name + ".x: expected at least one value, got none");
  const auto fits = [&](const std::vector<double>& v, const char* field) {
    require(v.size() == c.x.size(), fmt::format("{}.{}: expected {} values, one for each of x, got {}", name,
                                                field, c.x.size(), v.size()));
  };
  fits(c.y, "y");
  if (c.low.empty() && c.high.empty()) return;
  fits(c.low, "low");
  fits(c.high, "high");
}

void validate(const Panel& p, const std::string& name) {
  for (std::size_t k = 0; k < p.curves.size(); ++k)
    validate(p.curves[k], fmt::format("{}.curves[{}]", name, k));
  for (std::size_t k = 0; k < p.marks.size(); ++k) {
    const double at = p.marks[k].at;
    const bool log = p.marks[k].vertical ? p.log_x : p.log_y;
    require(drawable(at) && (!log || at > tiniest),
            fmt::format("{}.marks[{}].at: expected a {}number, got {}", name, k, log ? "positive " : "", at));
  }
}

// In the order they are first met: the place says what the curve looks like.
Labels labels_of(const CurvesFigure& f) {
  Labels labels;
  for (const Panel& p : f.panels) {
    for (const Curve& c : p.curves) gnuplot::place_of(c.label, labels);
  }
  return labels;
}

void validate(const CurvesFigure& f) {
  require(!f.panels.empty() && f.panels.size() <= 6,
          fmt::format("panels: expected 1 to 6, got {}", f.panels.size()));
  for (std::size_t i = 0; i < f.panels.size(); ++i) validate(f.panels[i], fmt::format("panels[{}]", i));
  const std::size_t labels = labels_of(f).size();
  require(labels <= 2 * colours.size(),
          fmt::format("panels: expected up to {} different labels, got {}", 2 * colours.size(), labels));
}

// Of an axis: grows with what it has to show.
class Extent {
 public:
  explicit Extent(bool log) : log_(log) {}

  bool shows(double v) const { return drawable(v) && (!log_ || v > tiniest); }
  void include(double v) {
    if (shows(v)) curves_ = {std::min(curves_.lo, v), std::max(curves_.hi, v)};
  }
  void include_band(double v) {
    if (drawable(v)) bands_ = {std::min(bands_.lo, v), std::max(bands_.hi, v)};
  }

  // With a margin, and never so narrow that there are no numbers beside it.
  AxisRange range() const {
    if (curves_.lo > curves_.hi) return log_ ? AxisRange{0.1, 10} : AxisRange{0, 1};
    if (log_) {
      const double lo = std::min(curves_.lo, std::max(bands_.lo, curves_.lo / widest_band));
      const double hi = std::max(curves_.hi, std::min(bands_.hi, curves_.hi * widest_band));
      const double margin = std::pow(hi / lo, 0.03) * std::sqrt(std::max(1.0, 4 * lo / hi));
      return {lo / margin, hi * margin};
    }
    const double lo = std::min(curves_.lo, bands_.lo);
    const double hi = std::max(curves_.hi, bands_.hi);
    const double size = std::max(std::abs(lo), std::abs(hi));
    if (size <= tiniest) return {-0.03, 1};  // all 0, as shares and counts may be
    const double margin = hi - lo > 1e-6 * size ? 0.03 * (hi - lo) : 0.1 * size;
    return {lo - margin, hi + margin};
  }

 private:
  bool log_;
  AxisRange curves_{inf, -inf};
  AxisRange bands_{inf, -inf};
};

// x, y, low, high: a line per point; NaN where nothing is drawn
Matrix<double> drawn(const Curve& c, const Extent& x, const Extent& y) {
  const AxisRange r = y.range();
  const auto n = static_cast<Index>(c.x.size());
  Matrix<double> rows(n, 4);
  const auto edge = [&](const std::vector<double>& v, std::size_t k) {
    return v.empty() || std::isnan(v[k]) ? nan : std::clamp(v[k], r.lo, r.hi);
  };
  for (Index i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(i);
    rows.row(i) << (x.shows(c.x[k]) ? c.x[k] : nan), (y.shows(c.y[k]) ? c.y[k] : nan), edge(c.low, k),
        edge(c.high, k);
  }
  return rows;
}

// A line through a single point would not be seen.
Matrix<double> single_points(const Matrix<double>& rows) {
  const auto there = [&](Index i) {
    return i >= 0 && i < rows.rows() && !std::isnan(rows(i, 0) + rows(i, 1));
  };
  Matrix<double> out(rows.rows(), 2);
  Index n = 0;
  for (Index i = 0; i < rows.rows(); ++i) {
    if (there(i) && !there(i - 1) && !there(i + 1)) out.row(n++) = rows.row(i).head(2);
  }
  return out.topRows(n);
}

std::string line_of(std::size_t place) {
  const std::size_t turn = place / colours.size();  // the second time round with other dashes
  return fmt::format("lw 2.2 lc rgb '{}' dt {}", colours[place % colours.size()],
                     gnuplot::dashes[(place + 3 * turn) % gnuplot::dashes.size()]);
}

// A curve that is its band alone.
bool is_shade(const Curve& c) {
  return !c.low.empty() && std::ranges::all_of(c.y, [](double v) { return std::isnan(v); });
}

std::string shade_of(std::size_t place) {  // as pale as the band
  return fmt::format("dt 1 lw 12 lc rgb '#C8{}'", colours[place % colours.size()] + 1);
}

std::string point_of(std::size_t place, std::size_t points) {
  const double size = points <= 50 ? 0.7 : points <= 500 ? 0.45 : 0.25;
  return fmt::format("pt {} ps {} lc rgb '{}'", place < colours.size() ? 7 : 6, size,
                     colours[place % colours.size()]);
}

// Bands lie under dots, and dots under lines.
std::string script_for(const Panel& p, Labels& labels, const Extent& x, const Extent& y) {
  std::string data;
  std::string bands;
  std::string dots;
  std::string lines;
  for (std::size_t k = 0; k < p.curves.size(); ++k) {
    const Curve& c = p.curves[k];
    const std::size_t place = gnuplot::place_of(c.label, labels);
    const Matrix<double> rows = drawn(c, x, y);
    const std::string name = fmt::format("d{}", k);
    gnuplot::inline_data(data, name, rows);
    const char* colour = colours[place % colours.size()];
    if (!c.low.empty() && c.dots) {
      bands += fmt::format("${} using 1:3:(0):($4-$3) with vectors nohead lw 1.2 lc rgb '{}' notitle, ", name,
                           colour);
    } else if (!c.low.empty()) {
      bands += fmt::format("${} using 1:3:4 with filledcurves lc rgb '{}' notitle, ", name, colour);
    }
    const Matrix<double> single = single_points(rows);
    if (!c.dots) lines += fmt::format("${} using 1:2 with lines {} notitle, ", name, line_of(place));
    if (!c.dots && single.rows() > 0) gnuplot::inline_data(data, name + "s", single);
    if (c.dots || single.rows() > 0) {
      (c.dots ? dots : lines) += fmt::format("${}{} using 1:2 with points {} notitle, ", name,
                                             c.dots ? "" : "s", point_of(place, c.dots ? c.x.size() : 1));
    }
  }
  return data + fmt::format("plot {}{}{}NaN notitle\n", bands, dots, lines);
}

Axes axes_of(const Panel& p, Labels& labels) {
  Extent x(p.log_x);
  Extent y(p.log_y);
  for (const CurvesFigure::Mark& m : p.marks) (m.vertical ? x : y).include(m.at);
  for (const Curve& c : p.curves) {
    for (const double v : c.x) x.include(v);
    for (const double v : c.y) y.include(v);
  }
  for (const Curve& c : p.curves) {
    for (const double v : c.low) y.include_band(v);
    for (const double v : c.high) y.include_band(v);
  }
  Axes out{
      p.title, p.x_label, p.y_label, x.range(), y.range(), p.log_x, p.log_y, {}, script_for(p, labels, x, y)};
  for (const CurvesFigure::Mark& m : p.marks) out.lines.push_back({m.at, m.label, m.vertical});
  return out;
}

// What each label looks like, as a line, as dots or as both.
std::vector<gnuplot::Entry> legend_of(const CurvesFigure& f, Labels& labels) {
  std::vector<gnuplot::Entry> entries;
  for (const std::string& label : labels) entries.push_back({label});
  for (const Panel& p : f.panels) {
    for (const Curve& c : p.curves) {
      const std::size_t place = gnuplot::place_of(c.label, labels);
      (c.dots ? entries[place].point : entries[place].line) = c.dots        ? point_of(place, 1)
                                                              : is_shade(c) ? shade_of(place)
                                                                            : line_of(place);
    }
  }
  std::erase_if(entries, [](const gnuplot::Entry& e) { return e.text.empty(); });
  return entries;
}

}  // namespace

std::vector<std::filesystem::path> draw(const CurvesFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  Labels labels = labels_of(figure);
  Panels panels{figure.title, {}, legend_of(figure, labels)};
  for (const Panel& p : figure.panels) panels.axes.push_back(axes_of(p, labels));
  return draw(panels, base);
}

}  // namespace demix::report
