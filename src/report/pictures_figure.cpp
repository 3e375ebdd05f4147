#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

namespace demix::report {
namespace {

using gnuplot::require;
using gnuplot::wrapped;
using Row = PicturesFigure::Row;
using Strings = std::vector<std::string>;

// Points, then pixels.
constexpr double font = 15;
constexpr double title_font = 17;
constexpr double line = 25;
constexpr double pad = 14;
constexpr double gap = 8;
constexpr double histogram = 48;    // its height, below the picture
constexpr double ramp = 9;          // height of the grey values below it
constexpr Index most_pixels = 400;  // along a side, of those kept in an SVG
constexpr Index bins = 32;
constexpr double clipped = 0.005;  // share of the pixels that may be blacker than black, or whiter than white

void validate(const Row& r, const std::string& name, Index pixels) {
  require(r.pixels.rows() > 0 && r.pixels.cols() == pixels,
          fmt::format("{}.pixels: expected pictures of width * height = {} pixels, got {} x {}", name, pixels,
                      r.pixels.rows(), r.pixels.cols()));
  require(r.pixels.allFinite(), name + ".pixels: expected finite numbers, got others");
  require(r.names.empty() || static_cast<Index>(r.names.size()) == r.pixels.rows(),
          fmt::format("{}.names: expected {} or none, got {}", name, r.pixels.rows(), r.names.size()));
}

void validate(const PicturesFigure& f) {
  require(f.width > 0, fmt::format("width: expected at least 1, got {}", f.width));
  require(f.height > 0, fmt::format("height: expected at least 1, got {}", f.height));
  require(!f.rows.empty(), "rows: expected at least one, got none");
  for (std::size_t i = 0; i < f.rows.size(); ++i)
    validate(f.rows[i], fmt::format("rows[{}]", i), f.width * f.height);
}

// From black to white: nearly all values, so that a few far out do not make the others grey.
AxisRange greys_of(Vector<double> values) {
  const auto at = [&](double share) {
    const auto k = static_cast<Index>(share * static_cast<double>(values.size() - 1));
    std::nth_element(values.begin(), values.begin() + k, values.end());
    return values(k);
  };
  const AxisRange r{at(clipped), at(1 - clipped)};
  return r.hi > r.lo ? r : AxisRange{r.lo - 1, r.hi + 1};
}

// Rows that take means of as many as fall together, for a side of n pixels that is to have fewer.
Matrix<double> means(Index n, Index fewer) {
  Matrix<double> out = Matrix<double>::Zero(fewer, n);
  const double each = static_cast<double>(n) / static_cast<double>(fewer);
  for (Index i = 0; i < fewer; ++i) {
    const double from = each * static_cast<double>(i);
    for (auto j = static_cast<Index>(from); j < n && static_cast<double>(j) < from + each; ++j) {
      const double to = std::min(from + each, static_cast<double>(j + 1));
      out(i, j) = (to - std::max(from, static_cast<double>(j))) / each;
    }
  }
  return out;
}

// 0 to 255, with at most so many pixels along a side.
Matrix<double> grey_picture(const Vector<double>& pixels, Index width, Index height, const AxisRange& greys) {
  const Matrix<double> grey =
      ((pixels.array() - greys.lo) / (greys.hi - greys.lo) * 255).cwiseMax(0).cwiseMin(255);
  const Matrix<double> rows = grey.reshaped<Eigen::RowMajor>(height, width);
  const double shrink = std::max(1.0, static_cast<double>(std::max(width, height)) / most_pixels);
  const auto fewer = [&](Index n) {
    return std::max<Index>(1, static_cast<Index>(std::round(static_cast<double>(n) / shrink)));
  };
  return (means(height, fewer(height)) * rows * means(width, fewer(width)).transpose()).array().round();
}

// Heights of bars side by side, the largest 1, and where the last one ends.
Vector<double> histogram_of(const Vector<double>& pixels, const AxisRange& greys) {
  Vector<double> counts = Vector<double>::Zero(bins + 1);
  for (const double v : pixels) {
    if (v < greys.lo || v > greys.hi) continue;
    counts(std::min(bins - 1, static_cast<Index>((v - greys.lo) / (greys.hi - greys.lo) * bins))) += 1;
  }
  return counts / counts.maxCoeff();
}

// Of the page, in pixels.
struct Layout {
  double left = pad;          // of all pictures
  double across, down, cell;  // of a picture, and how high it is with its histogram
  double column;              // from one to the next
  std::vector<double> tops;   // of the pictures in each row
  Strings title;
  gnuplot::Canvas page;

  explicit Layout(const PicturesFigure& f) {
    page.width = gnuplot::column_width;
    fit(f);
    for (const Row& r : f.rows) left = std::max(left, pad + height_of(title_of(r)) + gap);
    fit(f);
    title = wrapped(f.title, title_font, page.width - 2 * pad);
    page.height = pad + height_of(title);
    for (const Row& r : f.rows) {
      double names = 0;
      for (const std::string& name : r.names) names = std::max(names, height_of(name_of(name)));
      tops.push_back(page.height + names);
      page.height += names + cell + pad;
    }
    page.font = fmt::format("sans-serif,{}", font);
  }

  // As large as the page allows; of a picture that is a line, a little more is seen.
  void fit(const PicturesFigure& f) {
    Index columns = 0;
    for (const Row& r : f.rows) columns = std::max(columns, r.pixels.rows());
    column = (page.width - left) / static_cast<double>(columns);
    across = column - pad;
    down = std::clamp(across * static_cast<double>(f.height) / static_cast<double>(f.width), 2.0, page.width);
    cell = down + (f.histograms ? gap + histogram : 0);
  }

  static double height_of(const Strings& lines) { return line * static_cast<double>(lines.size()); }
  Strings title_of(const Row& r) const { return wrapped(r.title, font, cell); }
  Strings name_of(const std::string& name) const { return wrapped(name, font, across); }
};

class Script {
 public:
  Script(const PicturesFigure& f, const Layout& at) : figure_(f), at_(at) {
    text_ =
        "set multiplot\nunset tics\nunset key\nunset colorbox\nset palette defined (0 'black', "
        "1 'white')\nset cbrange "
        "[0:255]\n";
    text_ += at.page.heading(at.title, title_font, line);
    for (std::size_t i = 0; i < f.rows.size(); ++i) row(f.rows[i], at.tops[i]);
    text_ += "unset multiplot\n";
  }

  const std::string& text() const { return text_; }

 private:
  void row(const Row& r, double y) {
    const Strings title = at_.title_of(r);
    text_ += at_.page.write_upright(title, at_.left - gap - Layout::height_of(title) + line / 2,
                                    y + at_.cell / 2, line, "center");
    for (Index i = 0; i < r.pixels.rows(); ++i) {
      const double x = at_.left + at_.column * static_cast<double>(i);
      if (!r.names.empty()) {
        const Strings name = at_.name_of(r.names[static_cast<std::size_t>(i)]);
        text_ += at_.page.write(name, x, y - Layout::height_of(name) + line / 2 - 3, line, "left");
      }
      pair(r.pixels.row(i).transpose(), x, y);
    }
  }

  void pair(const Vector<double>& pixels, double x, double y) {
    const AxisRange greys = greys_of(pixels);
    image(grey_picture(pixels, figure_.width, figure_.height, greys), x, y, at_.across, at_.down);
    if (!figure_.histograms) return;
    const double floor = y + at_.cell - ramp;
    image(Vector<double>::LinSpaced(256, 0, 255).transpose(), x, floor, at_.across, ramp);
    bars(histogram_of(pixels, greys), x, y + at_.down + gap, at_.across, histogram - ramp);
  }

  // gnuplot needs two rows and two columns at least.
  void image(const Matrix<double>& grey, double x, double y, double across, double down) {
    const Matrix<double> enough = grey.replicate(grey.rows() == 1 ? 2 : 1, grey.cols() == 1 ? 2 : 1);
    gnuplot::inline_data(text_, "grey", enough);
    text_ += at_.page.axes(x, y, across, down);
    text_ +=
        fmt::format("set xrange [-0.5:{}.5]\nset yrange [{}.5:-0.5]\n", enough.cols() - 1, enough.rows() - 1);
    text_ += "set border 15 front lw 0.6 lc rgb '#808080'\n";
    plot("$grey matrix with image");
  }

  void bars(const Vector<double>& heights, double x, double y, double across, double down) {
    gnuplot::inline_data(text_, "bars", heights);
    text_ += at_.page.axes(x, y, across, down);
    text_ += fmt::format(
        "set xrange [0:{}]\nset yrange [0:1.02]\nset style fill solid noborder\nset border 0\n", bins);
    plot("$bars using 0:1 with fillsteps lc rgb '#606060'");
  }

  // Texts wait for the next plot: they are drawn once.
  void plot(const std::string& what) { text_ += fmt::format("plot {} notitle\nunset label\n", what); }

  const PicturesFigure& figure_;
  const Layout& at_;
  std::string text_;
};

}  // namespace

std::vector<std::filesystem::path> draw(const PicturesFigure& figure, const std::filesystem::path& base) {
  validate(figure);
  const Layout layout(figure);
  return gnuplot::draw(Script(figure, layout).text(), layout.page, base);
}

}  // namespace demix::report
