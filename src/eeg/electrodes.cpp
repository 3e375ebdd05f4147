#include "demix/electrodes.hpp"

#include <Eigen/Dense>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <numbers>

/// The 10-05 system on a sphere. Along the midline, from the nasion (Nz) to the inion (Iz), there is a row
/// every 5 %, which are 11.5 degrees, so that Fpz, T7, Oz and T8 are 92 degrees from Cz. The ends of the rows
/// are on the ring through these four, 5 % of its half being 9 degrees; the rows are arcs of circles from
/// ring to ring through the midline, each half in eight parts. Electrodes 9 and 10 are on the ring 23 degrees
/// below.
namespace demix::eeg {
namespace {

constexpr double degree = std::numbers::pi / 180;
constexpr double ring = 92;
constexpr double row_step = 11.5;
constexpr double ring_step = 9;

using Table = std::map<std::string, Position, std::less<>>;
using Point = Eigen::Vector3d;

// `from_top`: degrees from Cz; `from_nose`: degrees to the right of it.
Point at(double from_top, double from_nose) {
  const double across = std::sin(from_top * degree);
  return {across * std::sin(from_nose * degree), across * std::cos(from_nose * degree),
          std::cos(from_top * degree)};
}

std::string lower(std::string_view name) {
  std::string out(name);
  std::ranges::transform(out, out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

// A row, the name of its middle and of its sides, which the temporal lobe has given other letters.
struct Row {
  const char* middle;
  const char* side;
};
constexpr std::array<Row, 15> rows{{{"AFp", "AFp"},
                                    {"AF", "AF"},
                                    {"AFF", "AFF"},
                                    {"F", "F"},
                                    {"FFC", "FFT"},
                                    {"FC", "FT"},
                                    {"FCC", "FTT"},
                                    {"C", "T"},
                                    {"CCP", "TTP"},
                                    {"CP", "TP"},
                                    {"CPP", "TPP"},
                                    {"P", "P"},
                                    {"PPO", "PPO"},
                                    {"PO", "PO"},
                                    {"POO", "POO"}}};

class Construction {
 public:
  std::vector<std::string> names;
  Table table;

  Construction() {
    add("Nz", at(ring + 2 * row_step, 0));
    add("Fpz", at(ring, 0));
    add("Oz", at(ring, 180));
    add("OIz", at(ring + row_step, 180));
    add("Iz", at(ring + 2 * row_step, 180));
    for (const double side : {-1., 1.}) {
      const auto name = [&](const char* row, const char* end) {
        return std::string(row) + (side < 0 ? "1" : "2") + end;
      };
      add(name("N", "h"), at(ring + 2 * row_step, side * ring_step));
      add(name("N", ""), at(ring + 2 * row_step, side * 2 * ring_step));
      add(name("Fp", "h"), at(ring, side * ring_step));
      add(name("Fp", ""), at(ring, side * 2 * ring_step));
      add(name("O", "h"), at(ring, side * (180 - ring_step)));
      add(name("O", ""), at(ring, side * (180 - 2 * ring_step)));
      add(name("OI", "h"), at(ring + row_step, side * (180 - ring_step)));
      add(name("OI", ""), at(ring + row_step, side * (180 - 2 * ring_step)));
      add(name("I", "h"), at(ring + 2 * row_step, side * (180 - ring_step)));
      add(name("I", ""), at(ring + 2 * row_step, side * (180 - 2 * ring_step)));
    }
    for (std::size_t i = 0; i < rows.size(); ++i) add_row(rows[i], static_cast<double>(i) + 1);
  }

 private:
  void add(const std::string& name, const Point& p) {
    const Point metres = head_radius * p;
    names.push_back(name);
    table[lower(name)] = {metres(0), metres(1), metres(2)};
  }

  // `number`: rows behind that of Fpz.
  void add_row(const Row& row, double number) {
    const Point middle = at(ring - row_step * number, 0);
    add(std::string(row.middle) + "z", middle);
    const double turn = ring_step * (2 + number);
    const Point left = at(ring, -turn);
    const Point right = at(ring, turn);
    // The circle through all three: its plane holds x, as left and right mirror each other.
    const Point half = (left + right) / 2;
    const Point inwards = (half - middle).normalized();
    const double depth = (half - middle).norm();
    const double width = (right - left).norm() / 2;
    const double radius = (depth * depth + width * width) / (2 * depth);
    const double whole = std::atan2(width, radius - depth);
    for (const double side : {-1., 1.}) {
      const auto name = [&](int odd, bool between) {
        return std::string(odd > 5 ? row.side : row.middle) + std::to_string(odd + (side > 0 ? 1 : 0)) +
               (between ? "h" : "");
      };
      for (int part = 1; part <= 8; ++part) {  // 1h, 1, 3h, 3, 5h, 5, 7h, 7
        const double angle = whole * part / 8;
        const Point p =
            middle + radius * (1 - std::cos(angle)) * inwards + Point(side * radius * std::sin(angle), 0, 0);
        add(name(2 * ((part + 1) / 2) - 1, part % 2 == 1), p);
      }
      add(name(9, true), at(ring + row_step, side * turn));
      add(name(9, false), at(ring + 2 * row_step, side * turn));
    }
  }
};

const Construction& standard() {
  static const Construction all;
  return all;
}

// Without what is often written around the name.
std::string bare(std::string_view name) {
  std::string s = lower(name);
  if (s.starts_with("eeg ")) s.erase(0, 4);
  if (const auto dash = s.find('-'); dash != std::string::npos) {
    constexpr std::array<std::string_view, 10> common = {"ref", "le", "re", "avg", "av",
                                                         "a1",  "a2", "m1", "m2",  "org"};
    if (std::ranges::count(common, std::string_view(s).substr(dash + 1)) > 0) s.erase(dash);
  }
  std::erase_if(s, [](unsigned char c) { return c == '.' || std::isspace(c) != 0; });
  static const std::map<std::string, std::string, std::less<>> old = {
      {"t3", "t7"}, {"t4", "t8"}, {"t5", "p7"}, {"t6", "p8"}};
  const auto renamed = old.find(s);
  return renamed == old.end() ? s : renamed->second;
}

// Least squares of |p|^2 = 2 c p + (r^2 - |c|^2); the origin if that is no head around the electrodes.
Point centre_of(const Matrix<double>& p) {
  const Eigen::VectorXd distance = p.colwise().norm();
  const double mean = distance.mean();
  if (p.cols() < 8 || (distance.array() - mean).abs().maxCoeff() < 0.01 * mean) return Point::Zero();
  Matrix<double> left(p.cols(), 4);
  left << 2 * p.transpose(), Eigen::VectorXd::Ones(p.cols());
  const Eigen::VectorXd fit = left.colPivHouseholderQr().solve(distance.cwiseAbs2());
  const Point c = fit.head<3>();
  const double r = std::sqrt(std::max(0., fit(3) + c.squaredNorm()));
  return r > 0 && c.norm() < 0.8 * r && r < 1.5 * mean && r > 0.5 * mean ? c : Point::Zero();
}

}  // namespace

std::optional<Position> standard_position(std::string_view name) {
  const auto found = standard().table.find(bare(name));
  return found == standard().table.end() ? std::nullopt : std::optional(found->second);
}

std::vector<std::string> standard_names() { return standard().names; }

Positions with_standard(Positions positions, const std::vector<std::string>& names) {
  if (std::ranges::any_of(positions, [](const auto& p) { return p.has_value(); })) return positions;
  positions.clear();
  for (const std::string& name : names) positions.push_back(standard_position(name));
  return positions;
}

Directions directions_of(const Positions& positions) {
  Directions out;
  for (std::size_t i = 0; i < positions.size(); ++i) {
    const auto& p = positions[i];
    const auto is_finite = [](double x) { return std::isfinite(x); };
    if (p && std::ranges::all_of(*p, is_finite) && std::hypot((*p)[0], (*p)[1], (*p)[2]) > 0) {
      out.channels.push_back(static_cast<Index>(i));
    }
  }
  out.unit.resize(3, std::ssize(out.channels));
  for (Index k = 0; k < out.unit.cols(); ++k) {
    out.unit.col(k) = Eigen::Map<const Point>(positions[static_cast<std::size_t>(out.channels[k])]->data());
  }
  if (out.unit.cols() > 0) out.unit.colwise() -= centre_of(out.unit);
  out.unit.colwise().normalize();
  return out;
}

}  // namespace demix::eeg
