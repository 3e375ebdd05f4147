#include "report/bitmap.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include "report/markup.hpp"

namespace demix::report {
namespace {

// From blue over white to red, as ColorBrewer's RdBu; 7 of them.
constexpr std::array<std::array<int, 3>, 7> anchors{{{33, 102, 172},
                                                     {103, 169, 207},
                                                     {209, 229, 240},
                                                     {247, 247, 247},
                                                     {253, 219, 199},
                                                     {239, 138, 98},
                                                     {178, 24, 43}}};
constexpr int colours = 101;  // and one more for what is not a number

void put(std::string& out, std::uint32_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) out += static_cast<char>(value >> (8 * i) & 0xffU);
}

}  // namespace

std::string bitmap(const Matrix<float>& values, double most) {
  const auto width = static_cast<std::uint32_t>(values.cols());
  const auto height = static_cast<std::uint32_t>(values.rows());
  const std::uint32_t line = (width + 3) / 4 * 4;
  const std::uint32_t start = 54 + 4 * (colours + 1);
  std::string out = "BM";
  put(out, start + line * height, 4);
  put(out, 0, 4);
  put(out, start, 4);
  put(out, 40, 4);
  put(out, width, 4);
  put(out, height, 4);
  put(out, 1, 2);  // plane
  put(out, 8, 2);  // bits
  put(out, 0, 4);  // not compressed
  put(out, line * height, 4);
  put(out, 2835, 4);
  put(out, 2835, 4);
  put(out, colours + 1, 4);
  put(out, 0, 4);
  for (int c = 0; c < colours; ++c) {
    const double at = 6.0 * c / (colours - 1);
    const auto k = std::min<std::size_t>(5, static_cast<std::size_t>(at));
    const double part = at - static_cast<double>(k);
    for (const std::size_t i : {2U, 1U, 0U}) {  // blue, green, red
      put(out, static_cast<std::uint32_t>(std::lround((1 - part) * anchors[k][i] + part * anchors[k + 1][i])),
          1);
    }
    put(out, 0, 1);
  }
  put(out, 0xa0a0a0, 4);
  for (Index i = values.rows() - 1; i >= 0; --i) {  // from the bottom
    for (Index j = 0; j < values.cols(); ++j) {
      const double v = most > 0 ? values(i, j) / most : 0;
      const double share = std::clamp((v + 1) / 2, 0., 1.);
      out += static_cast<char>(std::isfinite(v) ? std::lround(share * (colours - 1)) : colours);
    }
    out.append(line - width, '\0');
  }
  return "data:image/bmp;base64," + markup::base64(out);
}

}  // namespace demix::report
