#include "report/panels.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "report/tics.hpp"

namespace demix::report {
namespace {

using gnuplot::width_of;
using gnuplot::wrapped;
using Lines = std::vector<std::string>;

// Points, then pixels: letters that can still be read in a column of a journal.
constexpr double font = 15;
constexpr double small_font = 14;  // names of lines across
constexpr double title_font = 17;
constexpr double text_line = 25;
constexpr double small_line = 23;
constexpr double pad = 10;
constexpr double gap = 4;          // between numbers and the name of their axis
constexpr double tic = 12;         // its length, and the gap to its number
constexpr double name_room = 110;  // for the name of a line across, before it is broken
constexpr double least = 120;      // width of axes that stand side by side
constexpr double largest = 400;    // side of square axes
constexpr const char* grey = "#707070";

double height_of(const Lines& lines, double each = text_line) {
  return each * static_cast<double>(lines.size());
}

double sum(const std::vector<double>& v) { return std::accumulate(v.begin(), v.end(), 0.0); }

// 0 to 1 along the axis
double share(double v, const AxisRange& r, bool log) {
  return log ? std::log(v / r.lo) / std::log(r.hi / r.lo) : (v - r.lo) / (r.hi - r.lo);
}

// Names of the lines across in one direction, each where its line is: 0 to 1 along the axis.
struct Names {
  std::vector<double> at;
  std::vector<Lines> texts;

  Names(const Axes& a, bool vertical, double room) {
    for (const Line& l : a.lines) {
      if (l.vertical != vertical || l.name.empty()) continue;
      at.push_back(vertical ? share(l.at, a.x, a.log_x) : 1 - share(l.at, a.y, a.log_y));
      texts.push_back(wrapped(l.name, small_font, room));
    }
  }
  double width(std::size_t k) const { return width_of(texts[k], small_font); }
  double height(std::size_t k) const { return height_of(texts[k], small_line); }
  double most(double (Names::*size)(std::size_t) const) const {
    double out = 0;
    for (std::size_t k = 0; k < texts.size(); ++k) out = std::max(out, (this->*size)(k));
    return out;
  }
};

// Middles for texts of these sizes between 0 and `length`: near to where each should be, and none touches
// another.
std::vector<double> apart(const std::vector<double>& wanted, const std::vector<double>& size, double length) {
  std::vector<std::size_t> order(wanted.size());
  std::iota(order.begin(), order.end(), 0U);
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return wanted[a] < wanted[b]; });
  std::vector<double> out = wanted;
  double free = 0;  // from here on
  for (const std::size_t k : order) {
    out[k] = std::max(wanted[k], free + size[k] / 2);
    free = out[k] + size[k] / 2;
  }
  double taken = length;  // from here on
  std::reverse(order.begin(), order.end());
  for (const std::size_t k : order) {
    out[k] = std::min(out[k], taken - size[k] / 2);
    taken = out[k] - size[k] / 2;
  }
  return out;
}

// What stands around one of the axes.
struct Around {
  const Axes* axes;
  Tics x, y;
  Lines title, x_label, y_label;
  Names right_names, upper_names;
  double left, right, above, below;

  // A single name beside the axes stands upright.
  bool one_name(double down) const {
    return right_names.texts.size() == 1 && right_names.texts[0].size() == 1 && right_names.width(0) <= down;
  }

  Around(const Axes& a, double across, double down)
      : axes(&a),
        x(tics_of({a.x, a.log_x, across, true}, font)),
        y(tics_of({a.y, a.log_y, down, false}, font)),
        title(wrapped(a.title, font, across)),
        x_label(wrapped(a.x_label, font, across)),
        y_label(wrapped(a.y_label, font, down)),
        right_names(a, false, name_room),
        upper_names(a, true, name_room),
        left(pad + height_of(y_label) + y.width + tic + gap),
        right(std::max(one_name(down) ? tic + small_line + gap : pad + tic + right_names.most(&Names::width),
                       gap + x.width / 2)),  // half of the last number
        above(pad + height_of(title) + upper_names.most(&Names::height)),
        below(gap + 1.2 * text_line + height_of(x_label) + pad) {}
};

class Drawing {
 public:
  // As wide as a column, unless the legend needs more; side by side where there is room.
  explicit Drawing(const Panels& p) : panels_(p), columns_(std::min<std::size_t>(2, p.axes.size())) {
    const double width = std::max(gnuplot::column_width, p.legend.empty() ? 0 : width_of(p.legend) + 2 * pad);
    fill(width);
    if (columns_ > 1 && across_ < least) {
      columns_ = 1;
      fill(width);
    }
    write();
  }

  std::vector<std::filesystem::path> draw(const std::filesystem::path& base) const {
    return gnuplot::draw(script_, page_, base);
  }

 private:
  // What stands beside the axes depends on their size: the second time it is right.
  void fill(double width) {
    double across = least;
    lay_out(across, proportion() * across);
    for (int k = 0; k < 8 && (k == 0 || page_.width > width); ++k) {
      across = (width - sum(left_) - sum(right_)) / static_cast<double>(columns_);
      if (panels_.square && columns_ == 1) across = std::min(across, largest);
      if (columns_ == 1) across = std::max(across, least);
      lay_out(across, proportion() * across);
    }
    const double rest = std::max(0.0, width - page_.width);
    left_[0] += rest / 2;
    right_.back() += rest / 2;
    lay_out_height(width);
  }

  double proportion() const {
    return panels_.square ? 1 : columns_ > 1 ? 0.85 : panels_.axes.size() > 1 ? 0.4 : 0.6;
  }

  // Axes of a column stand above each other, those of a row beside each other.
  void lay_out(double across, double down) {
    across_ = across;
    down_ = down;
    around_.clear();
    for (const Axes& a : panels_.axes) around_.emplace_back(a, across, down);
    left_.assign(columns_, 0);
    right_.assign(columns_, 0);
    above_.assign((around_.size() + columns_ - 1) / columns_, 0);
    below_ = above_;
    for (std::size_t i = 0; i < around_.size(); ++i) {
      const Around& a = around_[i];
      left_[i % columns_] = std::max(left_[i % columns_], a.left);
      right_[i % columns_] = std::max(right_[i % columns_], a.right);
      above_[i / columns_] = std::max(above_[i / columns_], a.above);
      below_[i / columns_] = std::max(below_[i / columns_], a.below);
    }
    page_.width = sum(left_) + sum(right_) + across * static_cast<double>(columns_);
  }

  void lay_out_height(double width) {
    page_.width = std::max(width, page_.width);
    title_ = wrapped(panels_.title, title_font, page_.width - 2 * pad);
    top_ = title_.empty() ? 0 : pad / 2 + height_of(title_);
    legend_top_ = top_ + sum(above_) + sum(below_) + down_ * static_cast<double>(above_.size());
    legend_columns_ = gnuplot::columns_of(panels_.legend, page_.width - 2 * pad);
    page_.height = legend_top_;
    if (!panels_.legend.empty()) page_.height += gnuplot::height_of(panels_.legend, legend_columns_) + pad;
    page_.font = fmt::format("sans-serif,{}", font);
  }

  void write() {
    script_ =
        "set multiplot\nset border 3 lw 1\nset tics out nomirror scale 0.6,0.3\n"
        "set xtics offset 0,0.4\nset ytics offset 0.7,0\n"
        "set grid xtics ytics lt 1 lw 0.5 lc rgb '#E0E0E0'\nunset key\n"
        "set style fill transparent solid 0.22 noborder\n";
    script_ += page_.heading(title_, title_font, text_line);
    script_ += page_.legend(panels_.legend, page_.width / 2, legend_top_, legend_columns_);
    double y = top_;
    for (std::size_t row = 0; row < above_.size(); ++row) {
      double x = 0;
      for (std::size_t column = 0; column < columns_ && row * columns_ + column < around_.size(); ++column) {
        panel(around_[row * columns_ + column], x + left_[column], y + above_[row]);
        x += left_[column] + across_ + right_[column];
      }
      y += above_[row] + down_ + below_[row];
    }
    script_ += "unset multiplot\n";
  }

  void panel(const Around& a, double x, double y) {
    const Axes& axes = *a.axes;
    script_ += page_.axes(x, y, across_, down_);
    script_ += fmt::format("set xrange [{:.10g}:{:.10g}]\nset yrange [{:.10g}:{:.10g}]\n", axes.x.lo,
                           axes.x.hi, axes.y.lo, axes.y.hi);
    script_ += fmt::format("unset logscale\n{}{}", axes.log_x ? "set logscale x\n" : "",
                           axes.log_y ? "set logscale y\n" : "");
    script_ +=
        fmt::format("set xtics ({}{})\nset ytics ({}{})\n", a.x.text, a.x.between, a.y.text, a.y.between);
    const double names = a.upper_names.most(&Names::height);
    script_ +=
        page_.write(a.title, x, y - pad / 2 - names - height_of(a.title) + text_line / 2, text_line, "left");
    script_ +=
        page_.write(a.x_label, x + across_ / 2, y + down_ + gap + 1.7 * text_line, text_line, "center");
    const double beside = x - tic - a.y.width - gap - height_of(a.y_label) + text_line / 2;
    script_ += page_.write_upright(a.y_label, beside, y + down_ / 2, text_line, "center");
    lines_across(axes, x, y);
    if (a.one_name(down_)) {
      write_upright(a.right_names, x + across_, y);
    } else {
      write_right(a.right_names, x + across_, y);
    }
    write_above(a.upper_names, x, y);
    script_ += axes.script + "unset label\nunset arrow\n";
  }

  void lines_across(const Axes& axes, double x, double y) {
    const std::string style = fmt::format("back dt '-' lw 1 lc rgb '{}'", grey);
    for (const Line& l : axes.lines) {
      const double right = x + across_ * share(l.at, axes.x, axes.log_x);
      const double down = y + down_ * (1 - share(l.at, axes.y, axes.log_y));
      script_ += l.vertical ? page_.line(right, y, right, y + down_, style)
                            : page_.line(x, down, x + across_, down, style);
    }
  }

  void write_upright(const Names& n, double x, double y) {
    const std::vector<double> put = apart({n.at[0] * down_}, {n.width(0)}, down_);
    script_ += page_.write_upright(n.texts[0], x + tic + small_line / 2, y + put[0], small_line,
                                   "center" + name_style());
    script_ += page_.line(x, y + n.at[0] * down_, x + tic, y + n.at[0] * down_, pointer());
  }

  // Each with a short line to where it belongs.
  void write_right(const Names& n, double x, double y) {
    std::vector<double> at;
    std::vector<double> size;
    for (std::size_t k = 0; k < n.at.size(); ++k) {
      at.push_back(n.at[k] * down_);
      size.push_back(n.height(k));
    }
    const std::vector<double> put = apart(at, size, down_);
    for (std::size_t k = 0; k < put.size(); ++k) {
      script_ += page_.line(x, y + at[k], x + tic - 3, y + put[k], pointer());
      script_ += page_.write(n.texts[k], x + tic, y + put[k] - (size[k] - small_line) / 2, small_line,
                             "left" + name_style());
    }
  }

  void write_above(const Names& n, double x, double y) {
    std::vector<double> at;
    std::vector<double> size;
    for (std::size_t k = 0; k < n.at.size(); ++k) {
      at.push_back(n.at[k] * across_);
      size.push_back(n.width(k) + pad);
    }
    const std::vector<double> put = apart(at, size, across_);
    for (std::size_t k = 0; k < put.size(); ++k) {
      script_ += page_.line(x + at[k], y, x + put[k], y - 6, pointer());
      script_ += page_.write(n.texts[k], x + put[k], y - 6 - n.height(k) + small_line / 2, small_line,
                             "center" + name_style());
    }
  }

  // Of another width than the lines across: in an SVG gnuplot would dash it as these.
  static std::string pointer() { return fmt::format("dt 1 lw 0.9 lc rgb '{}'", grey); }
  static std::string name_style() { return fmt::format(" font ',{}' tc rgb '{}'", small_font, grey); }

  const Panels& panels_;
  std::size_t columns_, legend_columns_ = 1;
  double across_ = 0, down_ = 0, top_ = 0, legend_top_ = 0;
  std::vector<Around> around_;
  std::vector<double> left_, right_, above_, below_;  // margins: of the columns, of the rows
  Lines title_;
  gnuplot::Canvas page_;
  std::string script_;
};

}  // namespace

std::vector<std::filesystem::path> draw(const Panels& panels, const std::filesystem::path& base) {
  return Drawing(panels).draw(base);
}

}  // namespace demix::report
