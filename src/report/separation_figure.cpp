#include <fmt/format.h>

#include <algorithm>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

namespace demix::report {
namespace {

using gnuplot::black;
using gnuplot::blue;
using gnuplot::green;
using gnuplot::red;

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

struct Panel {
  double left, bottom, width, height;  // of the page
};

class TracePanels {
 public:
  explicit TracePanels(std::string& script) : script_(script) {}

  // Samples one after the other, or the least and the most of each stretch of `stride` of them.
  void traces(const Panel& p, const std::string& title, const std::vector<Trace>& traces, double limit,
              Index stride) {
    place(p, title);
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
        plot += fmt::format("${0} using 0:1 with lines {1}${0} using 0:2 with lines {1}", name, look);
      }
    }
    script_ += plot + "\n";
  }

  void bars(const Panel& p, const std::vector<Trace>& traces, double limit) {
    place(p, "");
    script_ += fmt::format("set yrange [{}:{}]\nset xrange [0:1.05]\n", -limit, limit);
    std::string plot = "plot ";
    for (const Trace& t : traces) {
      const std::string name = next_name();
      const Vector<double> h = histogram(t.samples, limit);
      gnuplot::inline_data(script_, name, h);
      plot += fmt::format("${} using 1:({}+($0+.5)*{}) with lines lw 1.2 lc rgb '{}' notitle, ", name, -limit,
                          2 * limit / static_cast<double>(h.size()), t.colour);
    }
    script_ += plot + "\n";
  }

 private:
  std::string next_name() { return fmt::format("d{}", count_++); }

  void place(const Panel& p, const std::string& title) {
    script_ += fmt::format(
        "set lmargin at screen {}\nset rmargin at screen {}\nset bmargin at screen {}\nset tmargin at screen "
        "{}\n",
        p.left, p.left + p.width, p.bottom, p.bottom + p.height);
    script_ += title.empty()
                   ? "unset title\n"
                   : fmt::format("set title {} offset 0,-0.6 noenhanced\n", gnuplot::literal(title));
  }

  std::string& script_;
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

std::string script_for(const SeparationFigure& f) {
  const Index d = f.S.rows();
  const Index n = f.X.rows();
  const auto excerpt = [&](const Vector<double>& v) -> Vector<double> {
    const Index shown = std::min(f.shown, (v.size() - f.first) / f.stride);
    return v.segment(f.first, shown * f.stride);
  };
  std::string s = "unset xtics\nunset ytics\nset border 0\nset style fill solid noborder\nset multiplot\n";
  s += fmt::format("set label 1 {} at screen 0.5,0.97 center font ',17' noenhanced\n",
                   gnuplot::literal(f.title));
  s += fmt::format(
      "set label 2 \"{{/:Bold —}} mixture\" at screen 0.10,0.025 tc rgb '{}'\n"
      "set label 3 \"{{/:Bold —}} source\" at screen 0.38,0.025 tc rgb '{}'\n"
      "set label 4 \"{{/:Bold —}} estimate\" at screen 0.55,0.025 tc rgb '{}'\n"
      "set label 5 \"{{/:Bold —}} difference\" at screen 0.74,0.025 tc rgb '{}'\n",
      black, blue, red, green);
  TracePanels page(s);
  const double top = 0.93;
  const double bottom = 0.06;
  for (Index i = 0; i < n; ++i) {
    const Vector<double> x = f.X.row(i).transpose();
    const double limit = 1.05 * std::max(1e-300, x.cwiseAbs().maxCoeff());
    const double height = (top - bottom) / static_cast<double>(n);
    const double y = top - height * static_cast<double>(i + 1);
    page.traces({0.03, y + 0.1 * height, 0.31, 0.72 * height}, fmt::format("mixture {}", i + 1),
                {{excerpt(x), black, 1.2, true}}, limit, f.stride);
    page.bars({0.35, y + 0.1 * height, 0.07, 0.72 * height}, {{x, black}}, limit);
    if (i == 0) s += "unset label 1\nunset label 2\nunset label 3\nunset label 4\nunset label 5\n";
  }
  for (Index i = 0; i < d; ++i) {
    const Vector<double> truth = f.S.row(i).transpose();
    const Vector<double> estimate = f.Y.row(i).transpose();
    const Vector<double> error = estimate - truth;
    const double limit =
        1.05 * std::max({1e-300, truth.cwiseAbs().maxCoeff(), estimate.cwiseAbs().maxCoeff()});
    const double height = (top - bottom) / static_cast<double>(d);
    const double y = top - height * static_cast<double>(i + 1);
    // The difference on the scale of the signal.
    page.traces({0.46, y + 0.44 * height, 0.40, 0.37 * height}, f.names[static_cast<std::size_t>(i)],
                {{excerpt(truth), blue, 3.5, true}, {excerpt(estimate), red}}, limit, f.stride);
    page.traces({0.46, y + 0.04 * height, 0.40, 0.37 * height}, "", {{excerpt(error), green, 1.2, true}},
                limit, f.stride);
    page.bars({0.88, y + 0.44 * height, 0.09, 0.37 * height}, {{truth, blue}, {estimate, red}}, limit);
  }
  s += "unset multiplot\n";
  return s;
}

}  // namespace

std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  const auto rows = static_cast<double>(std::max(figure.S.rows(), figure.X.rows()));
  return gnuplot::draw(script_for(figure), {1000, 140 + 190 * rows, "sans,15", 4. / 3, 2}, base);
}

}  // namespace demix::report
