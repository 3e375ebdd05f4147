#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <fstream>

#include "demix/report.hpp"
#include "report/gnuplot.hpp"

/// Pictures that have been drawn before, in rows, each with its letter.
namespace demix::report {
namespace {

using gnuplot::require;

// Points, then pixels.
constexpr double font = 20;
constexpr double letter = 34;  // above each picture
constexpr double pad = 16;
constexpr double across = 1600;  // of the page

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

}  // namespace

std::vector<std::filesystem::path> draw(const CompositeFigure& figure, const std::filesystem::path& base) {
  require(!figure.rows.empty(), "rows: expected at least one, got none");
  gnuplot::Canvas page{across, pad, fmt::format("sans-serif,{}", font)};
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
    const double height = (across - pad * static_cast<double>(row.size() + 1)) / proportions;
    double left = pad;
    for (std::size_t k = 0; k < row.size(); ++k) {
      const double width = height * sizes[k].width / sizes[k].height;
      placed.push_back({row[k], left, page.height + letter, width, height, sizes[k]});
      left += width + pad;
    }
    page.height += letter + height + pad;
  }
  std::string script = "set multiplot\nunset tics\nunset border\nunset key\n";
  for (std::size_t k = 0; k < placed.size(); ++k) {
    const Placed& p = placed[k];
    const std::string name(1, static_cast<char>('A' + static_cast<int>(k)));
    script += page.write(name, p.left, p.top - letter / 2, fmt::format("left font ',{}'", font + 4));
    script += page.axes(p.left, p.top, p.width, p.height);
    script += fmt::format(
        "set xrange [0:{}]\nset yrange [0:{}]\nplot {} binary filetype=png with rgbimage\nunset label\n",
        p.size.width, p.size.height, gnuplot::literal(std::filesystem::absolute(p.file).string()));
  }
  return gnuplot::draw(script + "unset multiplot\n", page, base);
}

}  // namespace demix::report
