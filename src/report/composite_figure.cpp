#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <stdexcept>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

/// Pictures that have been drawn before, in rows, each with its letter.
namespace demix::report {
namespace {

using gnuplot::require;

// Points, then pixels.
constexpr double font = 17;
constexpr double letter = 30;  // above each picture

struct Size {
  double width = 0, height = 0;
};

// From the header of a PNG: eight bytes of signature, then IHDR with its length, name, width and height.
Size size_of(const std::filesystem::path& png) {
  std::array<unsigned char, 24> head{};
  std::ifstream file(png, std::ios::binary);
  file.read(reinterpret_cast<char*>(head.data()), head.size());
  require(file.gcount() == static_cast<std::streamsize>(head.size()) && head[1] == 'P' && head[2] == 'N',
          fmt::format("pictures: expected a PNG, got {}", png.string()));
  const auto number = [&](std::size_t at) {
    return 16777216. * head[at] + 65536. * head[at + 1] + 256. * head[at + 2] + head[at + 3];
  };
  return {number(16), number(20)};
}

std::string contents_of(const std::filesystem::path& name) {
  std::ifstream file(name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

void write_file(const std::filesystem::path& name, const std::string& text) {
  std::ofstream file(name, std::ios::binary);
  if (!file.write(text.data(), static_cast<std::streamsize>(text.size())).flush()) {
    throw std::runtime_error("no pictures drawn: " + name.string() + ": cannot write");
  }
}

// What a picture defines gets a name of its own: each is a document in the other.
std::string named_apart(std::string svg, const std::string& name) {
  for (const std::string mark : {"id='", "id=\"", "href='#", "href=\"#", "url(#"}) {
    for (std::size_t at = 0; (at = svg.find(mark, at)) != std::string::npos;) {
      at += mark.size();
      svg.insert(at, name + "-");
    }
  }
  return svg;
}

// An SVG inside another, at a place and of a size there.
std::string inside(const std::string& svg, const std::string& name, double left, double top, double width,
                   double height) {
  const std::size_t from = svg.find("<svg");
  const std::size_t box = svg.find("viewBox=", from);
  require(from != std::string::npos && box != std::string::npos, "pictures: expected an SVG beside each PNG");
  return fmt::format("<svg x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\"\n {}\n", left, top,
                     width, height, named_apart(svg.substr(box), name));
}

}  // namespace

std::vector<std::filesystem::path> draw(const CompositeFigure& figure, const std::filesystem::path& base) {
  require(!figure.rows.empty(), "rows: expected at least one, got none");
  gnuplot::Canvas page{gnuplot::column_width, 0, fmt::format("sans-serif,{}", font)};
  struct Placed {
    std::filesystem::path file;
    double left, top, width, height;
    Size size;
  };
  std::vector<Placed> placed;
  for (const auto& row : figure.rows) {
    require(!row.empty(), "rows: expected at least one picture in each, got none");
    double proportions = 0;  // pictures of a row are of one height
    std::vector<Size> sizes;
    for (const auto& file : row) {
      sizes.push_back(size_of(file));
      proportions += sizes.back().width / sizes.back().height;
    }
    const double height = page.width / proportions;
    double left = 0;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double width = height * sizes[k].width / sizes[k].height;
      placed.push_back({row[k], left, page.height + letter, width, height, sizes[k]});
      left += width;
    }
    page.height += letter + height;
  }
  std::string script = "set multiplot\nunset tics\nunset border\nunset key\n";
  for (std::size_t k = 0; k < placed.size(); ++k) {
    const Placed& p = placed[k];
    const std::string name(1, static_cast<char>('A' + static_cast<int>(k)));
    script += page.write(name, p.left + 8, p.top - letter / 2, "left");
    script += page.axes(p.left, p.top, p.width, p.height);
    script += fmt::format(
        "set xrange [0:{}]\nset yrange [0:{}]\nplot {} binary filetype=png with rgbimage\nunset label\n",
        p.size.width, p.size.height, gnuplot::literal(std::filesystem::absolute(p.file).string()));
  }
  auto files = gnuplot::draw(script + "unset multiplot\n", page, base);
  // In the SVG they are not pixels, but the SVGs themselves.
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"utf-8\" standalone=\"no\"?>\n<svg\n width=\"{0:.0f}\" "
      "height=\"{1:.0f}\"\n "
      "viewBox=\"0 0 {0:.0f} {1:.0f}\"\n xmlns=\"http://www.w3.org/2000/svg\" "
      "xmlns:xlink=\"http://www.w3.org/1999/xlink\">\n<rect width=\"{0:.0f}\" height=\"{1:.0f}\" "
      "fill=\"#ffffff\"/>\n",
      page.width, page.height);
  for (std::size_t k = 0; k < placed.size(); ++k) {
    const Placed& p = placed[k];
    const std::string name(1, static_cast<char>('A' + static_cast<int>(k)));
    svg += inside(contents_of(std::filesystem::path(p.file).replace_extension(".svg")), name, p.left, p.top,
                  p.width, p.height);
    svg += fmt::format(
        "<text x=\"{:.2f}\" y=\"{:.2f}\" font-family=\"sans-serif\" font-weight=\"bold\" "
        "font-size=\"{:.2f}\"><tspan>{}</tspan></text>\n",
        p.left + 8, p.top - 8, font * 4 / 3, name);
  }
  write_file(files[1], gnuplot::in_print(svg + "</svg>\n", page));
  return files;
}

}  // namespace demix::report
