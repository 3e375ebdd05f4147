#include "report/gnuplot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <system_error>

#include "demix/report.hpp"
#include "demix/temporary.hpp"

namespace demix::report {
namespace gnuplot {
namespace {

namespace fs = std::filesystem;

// Of an entry of a legend, in pixels.
constexpr double sample = 38;
constexpr double gap = 10;

std::runtime_error failure(const std::string& why) { return std::runtime_error("no pictures drawn: " + why); }

std::string shell_quoted(const fs::path& path) {
  std::string out = "'";
  for (const char c : path.string()) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

void write(const fs::path& name, const std::string& text) {
  std::ofstream file(name);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush()) {
    throw failure(name.string() + ": cannot write");
  }
}

std::string read(const fs::path& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// gnuplot runs inside the folder, so that no path has to be spelt in its language; -d: the figure does not
// depend on the user's own settings.
void run(const fs::path& folder, const std::string& script) {
  write(folder / "script", script);
  const std::string command = "cd " + shell_quoted(folder) + " && exec gnuplot -d script 2>&1 </dev/null";
  std::FILE* gnuplot = ::popen(command.c_str(), "r");
  if (gnuplot == nullptr) throw failure("gnuplot could not be started");
  std::string said;
  std::array<char, 4096> buffer{};
  while (const std::size_t got = std::fread(buffer.data(), 1, buffer.size(), gnuplot)) {
    said.append(buffer.data(), got);
  }
  if (::pclose(gnuplot) != 0) throw failure("gnuplot failed: " + said);
}

fs::path with_ending(const fs::path& base, const char* ending) {
  fs::path out = base;
  return out += ending;
}

// Both get their names, or neither does.
void keep(const fs::path& folder, const fs::path& png, const fs::path& svg) {
  std::vector<Temporary> pictures;
  for (const auto& [drawn, name] : {std::pair("png", png), std::pair("svg", svg)}) {
    if (fs::is_directory(name)) throw failure(name.string() + ": cannot write: a folder has that name");
    pictures.emplace_back(followed(name));
    fs::copy_file(folder / drawn, pictures.back().path(), fs::copy_options::overwrite_existing);
  }
  Temporary::rename(pictures);
}

// In units of the font size, in a wide font. All of a UTF-8 character counts at its first byte.
double width_of(char c) {
  if ((static_cast<unsigned char>(c) & 0xc0U) == 0x80U) return 0;
  if (static_cast<unsigned char>(c) >= 0x80U) return 1;
  if (std::string_view(" !'(),-./:;I[]fijlrt|").find(c) != std::string_view::npos) return 0.35;
  if (std::string_view("%@MWmw").find(c) != std::string_view::npos) return 1;
  if (('A' <= c && c <= 'Z') || std::string_view("#&+<=>^~").find(c) != std::string_view::npos) return 0.85;
  return 0.63;
}

// Of a legend whose entries are read down the first column, then the second; there may be fewer columns.
std::vector<double> column_widths(const std::vector<Entry>& entries, std::size_t columns) {
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  std::vector<double> widths;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (k % rows == 0) widths.push_back(0);
    widths.back() = std::max(widths.back(), width_of(std::vector<Entry>{entries[k]}));
  }
  return widths;
}

}  // namespace

std::string Canvas::at(double x, double y) const {
  return fmt::format("screen {:.5f},{:.5f}", x / width, 1 - y / height);
}

std::string Canvas::axes(double left, double top, double across, double down) const {
  return fmt::format(
      "set lmargin at screen {:.5f}\nset rmargin at screen {:.5f}\nset bmargin at screen {:.5f}\n"
      "set tmargin at screen {:.5f}\n",
      left / width, (left + across) / width, 1 - (top + down) / height, 1 - top / height);
}

std::string Canvas::write(std::string_view text, double x, double y, std::string_view how) const {
  return fmt::format("set label {} at {} {} noenhanced\n", literal(text), at(x, y), how);
}

std::string Canvas::write(const std::vector<std::string>& lines, double x, double y, double each,
                          std::string_view how) const {
  std::string out;
  for (std::size_t k = 0; k < lines.size(); ++k)
    out += write(lines[k], x, y + each * static_cast<double>(k), how);
  return out;
}

std::string Canvas::write_upright(const std::vector<std::string>& lines, double x, double y, double each,
                                  std::string_view how) const {
  const std::string turned = fmt::format("rotate by 90 {}", how);
  std::string out;
  for (std::size_t k = 0; k < lines.size(); ++k)
    out += write(lines[k], x + each * static_cast<double>(k), y, turned);
  return out;
}

std::string Canvas::heading(const std::vector<std::string>& title, double points, double each) const {
  return write(title, width / 2, 7 + each / 2, each, fmt::format("center font ',{}'", points));
}

std::string Canvas::line(double x, double y, double to_x, double to_y, std::string_view style) const {
  return fmt::format("set arrow from {} to {} nohead {}\n", at(x, y), at(to_x, to_y), style);
}

std::string Canvas::legend(const std::vector<Entry>& entries, double middle, double y,
                           std::size_t columns) const {
  const std::vector<double> widths = column_widths(entries, columns);
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  double left = middle - std::accumulate(widths.begin(), widths.end(), 0.0) / 2;
  std::string out;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    const Entry& e = entries[k];
    if (k > 0 && k % rows == 0) left += widths[k / rows - 1];
    const double down = y + legend_line * (0.5 + static_cast<double>(k % rows));
    if (!e.line.empty()) out += line(left, down, left + sample, down, e.line);
    if (!e.point.empty())
      out += fmt::format("set label '' at {} point {}\n", at(left + sample / 2, down), e.point);
    out += write(e.text, left + sample + gap, down, fmt::format("left font ',{}'", legend_font));
  }
  return out;
}

double width_of(const std::vector<Entry>& entries) {
  double width = 0;
  for (const Entry& e : entries) width = std::max(width, width_of(e.text, legend_font));
  return sample + width + 2 * gap;
}

std::size_t columns_of(const std::vector<Entry>& entries, double room) {
  std::size_t columns = 1;
  for (std::size_t n = 2; n <= entries.size(); ++n) {
    const std::vector<double> widths = column_widths(entries, n);
    if (std::accumulate(widths.begin(), widths.end(), 0.0) <= room) columns = widths.size();
  }
  return columns;
}

double height_of(const std::vector<Entry>& entries, std::size_t columns) {
  const std::size_t rows = (entries.size() + columns - 1) / columns;
  return legend_line * static_cast<double>(rows);
}

std::string literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '\n') {
      out += "\\n";
    } else if (c == '`') {
      out += "\\140";  // gnuplot would run what is between two of them
    } else if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else {
      out += static_cast<unsigned char>(c) < ' ' ? ' ' : c;
    }
  }
  return out + "\"";
}

std::string named_tics(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < names.size(); ++i) {
    std::string name;
    for (const char c : names[i]) name += c == '%' ? std::string("%%") : std::string(1, c);  // a format here
    out += fmt::format("{}{} {}", i == 0 ? "" : ", ", literal(name), i);
  }
  return "(" + out + ")";
}

double width_of(std::string_view text, double points) {
  double longest = 0;
  double width = 0;
  for (const char c : text) {
    width = c == '\n' ? 0 : width + width_of(c);
    longest = std::max(longest, width);
  }
  return longest * points * 4 / 3;
}

double width_of(const std::vector<std::string>& texts, double points) {
  double longest = 0;
  for (const std::string& text : texts) longest = std::max(longest, width_of(text, points));
  return longest;
}

std::vector<std::string> wrapped(std::string_view text, double points, double room) {
  std::vector<std::string> lines(text.empty() ? 0 : 1);
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t space = std::min(text.find_first_of(" \n", from), text.size());
    const std::string_view word = text.substr(from, space - from);
    std::string& last = lines.back();
    const bool starts = from == 0 || text[from - 1] == '\n';
    if (starts || width_of(last + " " + std::string(word), points) <= room) {
      last += (starts ? "" : " ") + std::string(word);
    } else {
      lines.emplace_back(word);
    }
    if (space < text.size() && text[space] == '\n') lines.emplace_back();
    from = space + 1;
  }
  return lines;
}

std::size_t place_of(const std::string& label, std::vector<std::string>& labels) {
  const auto found = std::find(labels.begin(), labels.end(), label);
  if (found != labels.end()) return static_cast<std::size_t>(found - labels.begin());
  labels.push_back(label);
  return labels.size() - 1;
}

void inline_data(std::string& script, std::string_view name, const Matrix<double>& rows) {
  script += fmt::format("${} << EOD\n", name);
  for (Index i = 0; i < rows.rows(); ++i) {
    for (Index j = 0; j < rows.cols(); ++j) script += fmt::format("{}{:.8g}", j == 0 ? "" : " ", rows(i, j));
    script += '\n';
  }
  script += "EOD\n";
}

void require(bool ok, const std::string& message) {
  if (!ok) throw std::invalid_argument(message);
}

std::string in_print(const std::string& svg, const Canvas& page) {
  const double mm = 85 / column_width;
  const std::string pixels = fmt::format("width=\"{:.0f}\" height=\"{:.0f}\"", page.width, page.height);
  const std::size_t at = svg.find(pixels);
  if (at == std::string::npos) return svg;
  return std::string(svg).replace(
      at, pixels.size(),
      fmt::format("width=\"{:.2f}mm\" height=\"{:.2f}mm\"", mm * page.width, mm * page.height));
}

std::vector<fs::path> draw(const std::string& script, const Canvas& page, const fs::path& base) {
  require_gnuplot();
  const auto script_to = [&](const std::string& terminal, double scale, double letters, const char* file) {
    return fmt::format(
        "set terminal {} size {:.0f},{:.0f} font '{}' fontscale {:.4f} background rgb 'white'\n"
        "set output '{}'\nset encoding utf8\n{}unset output\nreset\n",
        terminal, scale * page.width, scale * page.height, page.font, letters, file, script);
  };
  // As large in one as in the other: a point is 4/3 pixels in a PNG, one in an SVG.
  constexpr double png = 2;  // of its pixels for each of the page's
  const std::string both =
      script_to(fmt::format("pngcairo pointscale {} linewidth {}", 1.4 * png, png), png, png, "png") +
      script_to("svg dashlength 0.7", 1, 4. / 3, "svg");
  const fs::path png_file = with_ending(base, ".png");
  const fs::path svg_file = with_ending(base, ".svg");
  try {
    const Temporary folder(fs::absolute(base), Temporary::Kind::folder);
    run(folder.path(), both);
    const std::string svg = in_print(read(folder.path() / "svg"), page);
    write(folder.path() / "svg", svg);
    keep(folder.path(), png_file, svg_file);
  } catch (const std::system_error& e) {
    throw failure(e.what());
  }
  return {png_file, svg_file};
}

}  // namespace gnuplot

void require_gnuplot() {
  if (std::system("command -v gnuplot >/dev/null 2>&1") != 0) {
    throw gnuplot::failure("gnuplot is not installed (apt install gnuplot-nox)");
  }
}

}  // namespace demix::report
