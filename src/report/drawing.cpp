#include "report/drawing.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "report/markup.hpp"

namespace demix::report::drawing {
namespace {

constexpr Index height = 192;
constexpr Index most_columns = 512;  // of an envelope: about the pixels it gets
constexpr Index bar = 20;

std::string svg(Index width, Index down, std::string_view look, const std::string& content) {
  return fmt::format(
      "<svg class=\"{}\" viewBox=\"0 0 {} {}\" preserveAspectRatio=\"none\" aria-hidden=\"true\">{}</svg>\n",
      look, width, down, content);
}

// 0 at the bottom of the range, 1 at its top, whatever the numbers. Halves: the difference of two doubles may
// be too large for one.
double share(double v, const AxisRange& r) {
  const double whole = r.hi / 2 - r.lo / 2;
  const double s = whole > 0 ? (v / 2 - r.lo / 2) / whole : 0.5;
  return std::isfinite(s) ? std::clamp(s, 0., 1.) : 0.5;
}

Index row(double v, const AxisRange& r) {
  return std::lround((1 - share(v, r)) * static_cast<double>(height));
}

// Whole numbers, each from the last point: short, and never anything but a number.
class Path {
 public:
  void to(Index x, Index y) {
    if (lifted_) {
      d_ += fmt::format("M{} {}", x, y);
      dot_ = true;
    } else {
      // after a moveto, l begins the line; after that, bare pairs go on
      const Index dy = y - y_;
      d_ += fmt::format("{}{}{}{}", dot_ ? "l" : " ", x - x_, dy < 0 ? "" : " ", dy);
      dot_ = false;
    }
    lifted_ = false;
    x_ = x;
    y_ = y;
  }
  void lift() {
    if (dot_) d_ += "h1";  // a lone point is seen too
    dot_ = false;
    lifted_ = true;
  }
  std::string draw(std::string_view look) {
    lift();
    return fmt::format("<path class=\"{}\" d=\"{}\"/>", look, d_.empty() ? "M0 0" : d_);
  }

 private:
  std::string d_;
  Index x_ = 0, y_ = 0;
  bool lifted_ = true;
  bool dot_ = false;
};

bool is_empty(const Summary::Bin& b) { return b.least > b.most; }

double highest(const std::vector<Index>& counts) {
  return static_cast<double>(std::max<Index>(1, *std::max_element(counts.begin(), counts.end())));
}

}  // namespace

AxisRange joined(const AxisRange& a, const AxisRange& b) {
  return {std::min(a.lo, b.lo), std::max(a.hi, b.hi)};
}

AxisRange range_of(const std::vector<double>& values) {
  Summary::Bin all;
  for (const double v : values) {
    if (std::isfinite(v)) all = {std::min(all.least, v), std::max(all.most, v)};
  }
  return is_empty(all) ? AxisRange{} : AxisRange{all.least, all.most};
}

AxisRange range_of(const std::vector<Summary::Bin>& bins) {
  Summary::Bin all;
  for (const auto& b : bins) all = {std::min(all.least, b.least), std::max(all.most, b.most)};
  return is_empty(all) ? AxisRange{} : AxisRange{all.least, all.most};
}

std::string traces(const std::vector<Line>& lines, const AxisRange& range, std::string_view look) {
  std::string content;
  std::size_t width = 1;
  for (const Line& line : lines) {
    Path path;
    for (std::size_t t = 0; t < line.values->size(); ++t) {
      const double v = (*line.values)[t];
      std::isfinite(v) ? path.to(static_cast<Index>(t), row(v, range)) : path.lift();
    }
    content += path.draw(line.look);
    width = std::max(width, line.values->size() - (line.values->empty() ? 0 : 1));
  }
  return svg(static_cast<Index>(width), height, look, content);
}

std::string envelope(const std::vector<Summary::Bin>& bins, const AxisRange& range, std::string_view look) {
  const auto all = static_cast<Index>(bins.size());
  const Index columns = std::min(all, most_columns);
  Path path;
  for (Index c = 0; c < columns; ++c) {
    Summary::Bin column;
    for (Index b = c * all / columns; b < (c + 1) * all / columns; ++b) {
      const Summary::Bin& next = bins[static_cast<std::size_t>(b)];
      column = {std::min(column.least, next.least), std::max(column.most, next.most)};
    }
    if (is_empty(column)) {
      path.lift();
      continue;
    }
    path.to(2 * c, row(column.least, range));
    path.to(2 * c + 1, row(column.most, range));
  }
  return svg(std::max<Index>(1, 2 * columns - 1), height, look, path.draw("line"));
}

std::vector<Index> counts(const std::vector<double>& values, const AxisRange& range) {
  std::vector<Index> out(histogram_bins);
  for (const double v : values) {
    if (!std::isfinite(v)) continue;
    const auto b = static_cast<std::size_t>(share(v, range) * static_cast<double>(histogram_bins));
    ++out[std::min(b, histogram_bins - 1)];
  }
  return out;
}

std::string histograms(const std::vector<Line>& samples, const AxisRange& range) {
  constexpr double width = 100;
  constexpr auto step = height / static_cast<Index>(histogram_bins);
  std::string content;
  for (const Line& s : samples) {
    const std::vector<Index> n = counts(*s.values, range);
    std::string d = "M0 0";
    for (auto b = n.rbegin(); b != n.rend(); ++b) {
      d += fmt::format("H{}v{}", std::lround(width * static_cast<double>(*b) / highest(n)), step);
    }
    content += fmt::format("<path class=\"{}\" d=\"{}H0z\"/>", s.look, d);
  }
  return svg(static_cast<Index>(width), height, "histogram", content);
}

std::string lying_histogram(const Line& sample, const AxisRange& range) {
  const std::vector<Index> n = counts(*sample.values, range);
  std::string d = fmt::format("M0 {}", height);
  for (const Index k : n) {
    d += fmt::format("V{}h4",
                     std::lround(static_cast<double>(height) * (1 - static_cast<double>(k) / highest(n))));
  }
  return svg(4 * static_cast<Index>(histogram_bins), height, "histogram",
             fmt::format("<path class=\"{}\" d=\"{}V{}z\"/>", sample.look, d, height));
}

std::string bars(const Vector<double>& values, const std::vector<std::string>& titles) {
  constexpr Index half = 50;
  double largest = 0;
  for (const double v : values) {
    if (std::isfinite(v)) largest = std::max(largest, std::abs(v));
  }
  const Index width = bar * std::max<Index>(1, values.size());
  std::string content = fmt::format("<path class=\"zero\" d=\"M0 {}H{}\"/>", half, width);
  for (Index i = 0; i < values.size(); ++i) {
    const double part = largest > 0 && std::isfinite(values(i)) ? values(i) / largest : 0;
    const Index length = std::lround(half * std::abs(part));
    content += fmt::format(
        "<rect class=\"{}\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"><title>{}</title></rect>",
        part < 0 ? "down" : "up", i * bar + 3, part < 0 ? half : half - length, bar - 6, length,
        markup::escaped(titles[static_cast<std::size_t>(i)]));
  }
  return svg(width, 2 * half, "bars", content);
}

}  // namespace demix::report::drawing
