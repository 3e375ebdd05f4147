#include <algorithm>
#include <cmath>

#include "demix/report.hpp"

namespace demix::report {

// A braille character is 2 x 4 dots; its code point is U+2800 plus one bit per dot.
std::vector<std::string> text_plot(const Vector<double>& samples, Index width, Index lines, double lo,
                                   double hi) {
  constexpr int bit[4][2] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
  const Index columns = 2 * width;
  const Index rows = 4 * lines;
  std::vector<std::vector<int>> cell(static_cast<std::size_t>(lines),
                                     std::vector<int>(static_cast<std::size_t>(width)));
  const auto dot_row = [&](double v) {
    const double share = hi > lo ? (hi - v) / (hi - lo) : 0.5;
    return std::clamp<Index>(static_cast<Index>(std::lround(share * static_cast<double>(rows - 1))), 0,
                             rows - 1);
  };
  Index last = -1;
  for (Index c = 0; c < columns; ++c) {
    const Index t = columns > 1 ? c * (samples.size() - 1) / (columns - 1) : 0;
    const Index r = dot_row(samples(t));
    const Index from = last < 0 ? r : std::min(r, last + (r > last ? 1 : 0));  // join to the dot before
    const Index to = last < 0 ? r : std::max(r, last - (r < last ? 1 : 0));
    for (Index k = from; k <= to; ++k) {
      cell[static_cast<std::size_t>(k / 4)][static_cast<std::size_t>(c / 2)] |= bit[k % 4][c % 2];
    }
    last = r;
  }
  std::vector<std::string> out;
  for (const auto& row : cell) {
    std::string line;
    for (const int dots : row) {  // U+2800 ... U+28FF as UTF-8
      line += static_cast<char>(0xe2);
      line += static_cast<char>(0xa0 | (dots >> 6));
      line += static_cast<char>(0x80 | (dots & 0x3f));
    }
    out.push_back(line);
  }
  return out;
}

}  // namespace demix::report
