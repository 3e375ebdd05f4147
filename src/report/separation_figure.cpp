#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <stdexcept>

#include "demix/report.hpp"

namespace demix::report {
namespace {

// Okabe-Ito, safe for colour-blind readers
constexpr const char* black = "#000000";
constexpr const char* blue = "#0072B2";
constexpr const char* red = "#D55E00";
constexpr const char* green = "#009E73";

struct Trace {
  Vector<double> samples;
  const char* colour;
  double width = 1.2;
};

void inline_data(std::string& script, const char* name, const Vector<double>& v) {
  script += fmt::format("${} << EOD\n", name);
  for (const double value : v) script += fmt::format("{:.6g}\n", value);
  script += "EOD\n";
}

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

struct Panel {
  double left, bottom, width, height;  // of the page
};

class Page {
 public:
  explicit Page(std::string& script) : script_(script) {}

  void traces(const Panel& p, const std::string& title, const std::vector<Trace>& traces, double limit) {
    place(p, title);
    script_ += fmt::format("set yrange [{}:{}]\nset xrange [0:*]\n", -limit, limit);
    std::string plot = "plot ";
    for (const Trace& t : traces) {
      const std::string name = next_name();
      inline_data(script_, name.c_str(), t.samples);
      plot += fmt::format("${} using 0:1 with lines lw {} lc rgb '{}' notitle, ", name, t.width, t.colour);
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
      inline_data(script_, name.c_str(), h);
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
    script_ += title.empty() ? "unset title\n" : fmt::format("set title \"{}\" offset 0,-0.6\n", title);
  }

  std::string& script_;
  int count_ = 0;
};

std::string script_for(const SeparationFigure& f, const std::string& terminal,
                       const std::filesystem::path& file) {
  const Index d = f.S.rows();
  const Index n = f.X.rows();
  const auto excerpt = [&](const Vector<double>& v) -> Vector<double> {
    const Index shown = std::min(f.shown, v.size() / f.stride);
    return Eigen::Map<const Vector<double>, 0, Eigen::InnerStride<>>(v.data(), shown,
                                                                     Eigen::InnerStride<>(f.stride));
  };
  std::string s =
      fmt::format("set terminal {}\nset output '{}'\nset encoding utf8\n", terminal, file.string());
  s += "unset xtics\nunset ytics\nset border 0\nset multiplot\n";
  s += fmt::format("set label 1 \"{}\" at screen 0.5,0.975 center font ',13'\n", f.title);
  s += fmt::format(
      "set label 2 \"{{/:Bold —}} mixture\" at screen 0.04,0.02 tc rgb '{}'\n"
      "set label 3 \"{{/:Bold —}} source\" at screen 0.50,0.02 tc rgb '{}'\n"
      "set label 4 \"{{/:Bold —}} estimate\" at screen 0.62,0.02 tc rgb '{}'\n"
      "set label 5 \"{{/:Bold —}} difference\" at screen 0.76,0.02 tc rgb '{}'\n",
      black, blue, red, green);
  Page page(s);
  const double top = 0.93;
  const double bottom = 0.06;
  for (Index i = 0; i < n; ++i) {
    const Vector<double> x = f.X.row(i).transpose();
    const double limit = 1.05 * std::max(1e-300, x.cwiseAbs().maxCoeff());
    const double height = (top - bottom) / static_cast<double>(n);
    const double y = top - height * static_cast<double>(i + 1);
    page.traces({0.03, y + 0.1 * height, 0.31, 0.72 * height}, fmt::format("mixture {}", i + 1),
                {{excerpt(x), black}}, limit);
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
    page.traces({0.46, y + 0.36 * height, 0.40, 0.46 * height}, f.names[static_cast<std::size_t>(i)],
                {{excerpt(truth), blue, 3}, {excerpt(estimate), red}}, limit);
    page.traces({0.46, y + 0.1 * height, 0.40, 0.22 * height}, "", {{excerpt(error), green}}, limit);
    page.bars({0.88, y + 0.36 * height, 0.09, 0.46 * height}, {{truth, blue}, {estimate, red}}, limit);
  }
  s += "unset multiplot\n";
  return s;
}

}  // namespace

std::vector<std::filesystem::path> draw(const SeparationFigure& figure, const std::filesystem::path& base) {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    throw std::runtime_error("no pictures drawn: gnuplot is not installed (apt install gnuplot-nox)");
  }
  std::filesystem::path png = base;
  png += ".png";
  std::filesystem::path svg = base;
  svg += ".svg";
  const std::string script =
      script_for(figure, "pngcairo size 1400,900 font 'sans,11' background rgb 'white'", png) +
      "unset output\nreset\n" +
      script_for(figure, "svg size 1400,900 font 'sans,11' background rgb 'white'", svg) + "unset output\n";
  std::FILE* gnuplot = ::popen("gnuplot", "w");
  if (gnuplot == nullptr) throw std::runtime_error("no pictures drawn: gnuplot could not be started");
  const std::size_t put = std::fwrite(script.data(), 1, script.size(), gnuplot);
  if (::pclose(gnuplot) != 0 || put != script.size())
    throw std::runtime_error("no pictures drawn: gnuplot failed");
  return {png, svg};
}

}  // namespace demix::report
