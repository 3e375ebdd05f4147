#include <fmt/format.h>

#include <algorithm>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

namespace demix::report {
namespace {

using gnuplot::black;
using gnuplot::green;
using gnuplot::red;
using gnuplot::sky;

struct Trace {
  Vector<double> samples;
  const char* colour;
  double width = 1.2;
  bool filled = false;  // between the least and the most of each stretch; else both as lines
};

// Histogram as counts in 60 bins over [-limit, limit], the largest scaled to 1.
Vector<double> histogram(const Vector<double>& v, double limit) {
  constexpr Index bins = 60;
  Vector<double> counts = Vector<double>::Zero(bins);
  for (const double value : v) {
    const auto b = static_cast<Index>((value / limit + 1) / 2 * bins);
    if (b >= 0 && b < bins) counts(b) += 1;
  }
  return counts / std::max(1.0, counts.maxCoeff());
}

// Least and most of each stretch: one row each.
Matrix<double> envelope(const Vector<double>& v, Index stride) {
  Matrix<double> out(v.size() / stride, 2);
  for (Index k = 0; k < out.rows(); ++k) {
    const auto part = v.segment(k * stride, stride);
    out.row(k) << part.minCoeff(), part.maxCoeff();
  }
  return out;
}

// Points, then pixels.
constexpr double font = 15;
constexpr double title_font = 17;
constexpr double line = 25;
constexpr double pad = 8;
constexpr double block = 160;  // of a source: its name, its trace, the difference
constexpr double trace = 62;

struct Panel {
  double left, top, width, height;  // in pixels of the page
};

class TracePanels {
 public:
  TracePanels(std::string& script, const gnuplot::Canvas& page) : script_(script), page_(page) {}

  // Samples one after the other, or the least and the most of each stretch of `stride` of them.
  void traces(const Panel& p, const std::vector<Trace>& traces, double limit, Index stride) {
    place(p);
    script_ += fmt::format("set yrange [{}:{}]\nset xrange [0:*]\n", -limit, limit);
    std::string plot = "plot ";
    for (const Trace& t : traces) {
      const std::string name = next_name();
      const std::string look = fmt::format("lw {} lc rgb '{}' notitle, ", t.width, t.colour);
      if (stride == 1) {
        gnuplot::inline_data(script_, name, t.samples);
        plot += fmt::format("${} using 0:1 with lines {}", name, look);
        continue;
      }
      gnuplot::inline_data(script_, name, envelope(t.samples, stride));
      if (t.filled) {
        plot += fmt::format(
            "${0} using 0:1:2 with filledcurves {1}${0} using 0:1 with lines lw 0.8 lc rgb '{2}' notitle, ",
            name, look, t.colour);
      } else {
        const std::string thin = fmt::format("lw 0.8 lc rgb '{}' notitle, ", t.colour);
        plot += fmt::format("${0} using 0:1 with lines {1}${0} using 0:2 with lines {1}", name, thin);
      }
    }
    script_ += plot + "\nunset label\nunset arrow\n";  // they are drawn once
  }

  void bars(const Panel& p, const std::vector<Trace>& traces, double limit) {
    place(p);
    script_ += fmt::format("set yrange [{}:{}]\nset xrange [0:1.05]\n", -limit, limit);
    std::string plot = "plot ";
    for (const Trace& t : traces) {
      const std::string name = next_name();
      const Vector<double> h = histogram(t.samples, limit);
      gnuplot::inline_data(script_, name, h);
      plot += fmt::format("${} using 1:({}+($0+.5)*{}) with lines lw {} lc rgb '{}' notitle, ", name, -limit,
                          2 * limit / static_cast<double>(h.size()), t.width, t.colour);
    }
    script_ += plot + "\nunset label\nunset arrow\n";  // they are drawn once
  }

 private:
  std::string next_name() { return fmt::format("d{}", count_++); }

  void place(const Panel& p) { script_ += page_.axes(p.left, p.top, p.width, p.height); }

  std::string& script_;
  const gnuplot::Canvas& page_;
  int count_ = 0;
};

void validate(const SeparationFigure& f) {
  using gnuplot::require;
  require(f.X.size() > 0, "X: expected frames, got none");
  require(f.S.size() > 0, "S: expected frames, got none");
  require(
      f.Y.rows() == f.S.rows() && f.Y.cols() == f.S.cols(),
      fmt::format("Y: expected {} x {} as S, got {} x {}", f.S.rows(), f.S.cols(), f.Y.rows(), f.Y.cols()));
  require(static_cast<Index>(f.names.size()) == f.S.rows(),
          fmt::format("names: expected {}, one for each source, got {}", f.S.rows(), f.names.size()));
  require(f.shown > 0, fmt::format("shown: expected at least 1, got {}", f.shown));
  require(f.first >= 0 && f.first < f.X.cols(),
          fmt::format("first: expected 0 to {}, got {}", f.X.cols() - 1, f.first));
  require(f.stride > 0, fmt::format("stride: expected at least 1, got {}", f.stride));
}

// From the left: mixtures and their distributions, sources and theirs.
constexpr double mixture_left = pad, mixture_across = 185, mixture_bars = 40;
constexpr double source_left = 262, source_across = 300, source_bars = 62;

struct Layout {
  std::vector<std::string> title;
  double top, down;  // of the traces
  std::vector<gnuplot::Entry> legend;
  std::size_t legend_columns;
  gnuplot::Canvas page{gnuplot::column_width, 0, fmt::format("sans-serif,{}", font)};

  explicit Layout(const SeparationFigure& f) {
    title = gnuplot::wrapped(f.title, title_font, page.width - 2 * pad);
    top = 2 * pad + line * static_cast<double>(title.size());
    down = block * static_cast<double>(std::max(f.S.rows(), f.X.rows()));
    const auto entry = [](const char* text, const char* colour, double width) {
      return gnuplot::Entry{text, fmt::format("lw {} lc rgb '{}'", width, colour)};
    };
    legend = {entry("mixture", black, 1.6), entry("true source", sky, 6), entry("recovered", red, 1.6),
              entry("difference", green, 1.6)};
    legend_columns = gnuplot::columns_of(legend, page.width);
    page.height = top + down + gnuplot::height_of(legend, legend_columns) + pad;
  }
};

std::string script_for(const SeparationFigure& f, const Layout& at) {
  const Index d = f.S.rows();
  const Index n = f.X.rows();
  const auto excerpt = [&](const Vector<double>& v) -> Vector<double> {
    const Index shown = std::min(f.shown, (v.size() - f.first) / f.stride);
    return v.segment(f.first, shown * f.stride);
  };
  std::string s = "unset xtics\nunset ytics\nset border 0\nset style fill solid noborder\nset multiplot\n";
  s += at.page.heading(at.title, title_font, line);
  s += at.page.legend(at.legend, at.page.width / 2, at.top + at.down, at.legend_columns);
  TracePanels page(s, at.page);
  for (Index i = 0; i < n; ++i) {
    const Vector<double> x = f.X.row(i).transpose();
    const double limit = 1.05 * std::max(1e-300, x.cwiseAbs().maxCoeff());
    const double y = at.top + at.down / static_cast<double>(n) * static_cast<double>(i);
    s += at.page.write(fmt::format("mixture {}", i + 1), mixture_left, y + line / 2, "left");
    const double height = at.down / static_cast<double>(n) - line - 2 * pad;
    page.traces({mixture_left, y + line, mixture_across, height}, {{excerpt(x), black, 1.2, true}}, limit,
                f.stride);
    page.bars({mixture_left + mixture_across + pad, y + line, mixture_bars, height}, {{x, black}}, limit);
  }
  for (Index i = 0; i < d; ++i) {
    const Vector<double> truth = f.S.row(i).transpose();
    const Vector<double> estimate = f.Y.row(i).transpose();
    const Vector<double> error = estimate - truth;
    const double limit =
        1.05 * std::max({1e-300, truth.cwiseAbs().maxCoeff(), estimate.cwiseAbs().maxCoeff()});
    const double y = at.top + at.down / static_cast<double>(d) * static_cast<double>(i);
    const auto name =
        gnuplot::wrapped(f.names[static_cast<std::size_t>(i)], font, source_across + source_bars);
    if (!name.empty())
      s += at.page.write(name[0] + (name.size() > 1 ? " ..." : ""), source_left, y + line / 2, "left");
    // The difference on the scale of the signal.
    page.traces({source_left, y + line, source_across, trace},
                {{excerpt(truth), sky, 5, true}, {excerpt(estimate), red}}, limit, f.stride);
    page.traces({source_left, y + line + trace, source_across, trace}, {{excerpt(error), green, 1.2, true}},
                limit, f.stride);
    page.bars({source_left + source_across + pad, y + line, source_bars, trace},
              {{truth, sky, 4}, {estimate, red}}, limit);
  }
  s += "unset multiplot\n";
  return s;
}

}  // namespace

std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  const Layout layout(figure);
  return gnuplot::draw(script_for(figure, layout), layout.page, base);
}

}  // namespace demix::report
