#include <Eigen/Dense>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <optional>

#include "demix/component_faces.hpp"
#include "demix/scalp_map.hpp"

/// The rules, in the order in which they are asked; docs/eeg.md says why they are as they are.
namespace demix::eeg {
namespace {

// ".94"
std::string digits(double r) {
  std::array<char, 16> text{};
  std::snprintf(text.data(), text.size(), "%.2f", std::abs(r));
  const std::string s = text.data();
  return (r < 0 ? "-" : "") + (s[0] == '0' ? s.substr(1) : s);
}

std::string rounded(double x) { return std::to_string(std::llround(x)); }

// Mean density between two frequencies.
double density(const Faces& all, const Face& face, double from, double to) {
  double sum = 0;
  int n = 0;
  for (std::size_t f = 0; f < all.frequencies.size(); ++f) {
    if (all.frequencies[f] < from || all.frequencies[f] > to) continue;
    sum += face.spectrum[f];
    ++n;
  }
  return n > 0 ? sum / n : 0;
}

// Of the power from 1 Hz on: what is below is drift.
double share(const Faces& all, const Face& face, double from, double to) {
  double sum = 0;
  double whole = 0;
  for (std::size_t f = 0; f < all.frequencies.size(); ++f) {
    if (all.frequencies[f] < 1) continue;
    whole += face.spectrum[f];
    if (all.frequencies[f] >= from && all.frequencies[f] <= to) sum += face.spectrum[f];
  }
  return whole > 0 ? sum / whole : 0;
}

double highest(const Faces& all) { return all.frequencies.empty() ? 0 : all.frequencies.back(); }

// Slope of log power over log frequency from 7 to 45 Hz: about -1 for the brain, near 0 or above for muscles
// (Dharmaprani et al. 2016).
std::optional<double> slope(const Faces& all, const Face& face) {
  const double to = std::min(45., 0.85 * highest(all));
  if (to < 30) return {};
  double n = 0, x = 0, y = 0, xx = 0, xy = 0;
  for (std::size_t f = 0; f < all.frequencies.size(); ++f) {
    if (all.frequencies[f] < 7 || all.frequencies[f] > to || !(face.spectrum[f] > 0)) continue;
    const double a = std::log(all.frequencies[f]);
    const double b = std::log(face.spectrum[f]);
    n += 1, x += a, y += b, xx += a * a, xy += a * b;
  }
  return n < 4 ? std::nullopt : std::optional((n * xy - x * y) / (n * xx - x * x));
}

// Where on the head a component is: its map, by splines, at places of the 10-10 system.
struct Place {
  bool is_front_known = false, is_rim_known = false;
  double front = 0;            // size over the eyes / root mean square of the rest of the head
  double left = 0, right = 0;  // beside the left and the right eye, largest size of the map = 1
  double rim = 0;              // size at the rim of the cap / at its crown
};

class Places {
 public:
  explicit Places(const Positions& positions) : where_(directions_of(positions)) {
    if (where_.unit.cols() < 8) return;
    is_front_known_ = is_near({"Fp1", "Fpz", "Fp2"}, 25);
    is_rim_known_ = is_near({"F7", "FT7", "T7", "TP7", "P7"}, 25) &&
                    is_near({"F8", "FT8", "T8", "TP8", "P8"}, 25) && is_near({"Fz", "Cz", "Pz"}, 25);
    are_sides_known_ = is_near({"F7", "AF7"}, 30) && is_near({"F8", "AF8"}, 30);
    over_eyes_ = to({"Fp1", "Fpz", "Fp2"});
    beside_eyes_ = to({"F7", "F8"});
    rest_ = to({"FC3", "FC4", "T7", "C3", "Cz", "C4", "T8", "P7", "P3", "Pz", "P4", "P8", "O1", "Oz", "O2"});
    rim_ = to({"F7", "FT7", "T7", "TP7", "P7", "PO7", "O1", "O2", "PO8", "P8", "TP8", "T8", "FT8", "F8"});
    crown_ = to({"F1", "Fz", "F2", "C3", "C1", "Cz", "C2", "C4", "P1", "Pz", "P2"});
  }

  Place of(const Vector<double>& map) const {
    Place out;
    if (!(is_front_known_ || is_rim_known_) || !(map.cwiseAbs().maxCoeff() > 0)) return out;
    Vector<double> v(where_.unit.cols());
    for (Index i = 0; i < v.size(); ++i) v(i) = map(where_.channels[static_cast<std::size_t>(i)]);
    const auto size = [&](const Matrix<double>& W) {
      return std::sqrt((W * v).squaredNorm() / static_cast<double>(W.rows()));
    };
    out.is_front_known = is_front_known_;
    out.is_rim_known = is_rim_known_;
    out.front = std::abs((over_eyes_ * v).mean()) / size(rest_);
    out.rim = size(rim_) / size(crown_);
    if (!are_sides_known_) return out;
    const Vector<double> sides = beside_eyes_ * v / v.cwiseAbs().maxCoeff();
    out.left = sides(0);
    out.right = sides(1);
    return out;
  }

 private:
  using Names = std::initializer_list<const char*>;

  static Matrix<double> directions(Names names) {
    Matrix<double> out(3, std::ssize(names));
    Index k = 0;
    for (const char* name : names) {
      const Position p = *standard_position(name);
      out.col(k++) = Eigen::Vector3d(p[0], p[1], p[2]).normalized();
    }
    return out;
  }
  Matrix<double> to(Names names) const { return spline_weights(where_.unit, directions(names)); }
  // Whether there is an electrode within so many degrees of one of them.
  bool is_near(Names names, double degrees) const {
    const double cosine = (directions(names).transpose() * where_.unit).maxCoeff();
    return cosine > std::cos(degrees * std::numbers::pi / 180);
  }

  Directions where_;
  bool is_front_known_ = false, is_rim_known_ = false, are_sides_known_ = false;
  Matrix<double> over_eyes_, beside_eyes_, rest_, rim_, crown_;
};

// Blinks: both eyes have one sign. Movements to the side: opposite signs, and little in the middle.
bool is_frontal(const Place& p) { return p.is_front_known && p.front > 3 && p.left * p.right >= 0; }
bool is_lateral(const Place& p) {
  return p.is_front_known && p.left * p.right < 0 && std::min(std::abs(p.left), std::abs(p.right)) > 0.4 &&
         p.front < 1;
}

const Correlation* strongest(const Faces& all, const Face& face, Reference::Kind kind, std::string& name) {
  const Correlation* best = nullptr;
  for (std::size_t i = 0; i < all.references.size(); ++i) {
    if (all.references[i].kind != kind) continue;
    if (best == nullptr || std::abs(face.correlations[i].r) > std::abs(best->r)) {
      best = &face.correlations[i];
      name = all.references[i].name;
    }
  }
  return best;
}

using Found = std::optional<Suggestion>;

// What a rule looks at.
struct Looks {
  const Faces& all;
  const Face& face;
  Place place;
  Vector<double> map;
};

Found eyes(const Looks& c) {
  std::string name;
  const Correlation* eog = strongest(c.all, c.face, Reference::Kind::eog, name);
  const double r = eog == nullptr ? 0 : std::abs(eog->r);
  const bool is_slow = share(c.all, c.face, 1, 5) > 0.5;
  const bool has_peaks = c.face.kurtosis > 8 && c.face.peaks > 0.5;
  const bool is_blink = is_frontal(c.place) && is_slow && (has_peaks || r > 0.3);
  // Without a channel of the eyes the map alone has to tell, and must tell more.
  const bool is_side =
      is_lateral(c.place) &&
      (eog != nullptr ? is_slow && r > 0.3 : share(c.all, c.face, 1, 5) > 0.7 && c.place.front < 0.6);
  if (r < 0.6 && !is_blink && !is_side) return {};
  std::string why = r > 0.3 ? "r = " + digits(r) + " with " + name : "";
  const auto also = [&](bool holds, const std::string& what) {
    if (holds) why += (why.empty() ? "" : ", ") + what;
  };
  also(is_frontal(c.place), "frontal");
  also(is_lateral(c.place), "of opposite sign beside the two eyes");
  also(is_slow, "slow");
  also(has_peaks, "in peaks, kurtosis " + rounded(c.face.kurtosis));
  return Suggestion{0, is_lateral(c.place) ? "eye-movement" : "blink", why};
}

Found heart(const Looks& c) {
  std::string name;
  const Correlation* ecg = strongest(c.all, c.face, Reference::Kind::ecg, name);
  if (ecg != nullptr) {
    if (std::abs(ecg->r) < 0.4) return {};
    return Suggestion{0, "heart", "r = " + digits(ecg->r) + " with " + name};
  }
  if (c.face.beats == 0 || c.face.kurtosis < 5) return {};
  return Suggestion{0, "heart", "even peaks, " + rounded(c.face.beats) + " a minute"};
}

Found line(const Looks& c) {
  for (const double mains : {50., 60.}) {
    if (mains + 4 > highest(c.all)) continue;
    const double peak = density(c.all, c.face, mains - 1, mains + 1);
    const double beside =
        (density(c.all, c.face, mains - 5, mains - 2) + density(c.all, c.face, mains + 2, mains + 5)) / 2;
    const double part = share(c.all, c.face, mains - 1, mains + 1);
    if (part > 0.3 && peak > 10 * beside) {
      return Suggestion{0, "line-noise",
                        rounded(100 * part) + " % of its power at " + rounded(mains) + " Hz"};
    }
  }
  return {};
}

// One electrode that comes loose: nearly all on one channel, in pops.
Found channel(const Looks& c) {
  if (c.map.size() < 8) return {};
  Vector<double> size = c.map.cwiseAbs();
  std::ranges::sort(size, std::greater<>());
  if (size(0) < 5 * size(1) || c.face.kurtosis < 10) return {};
  return Suggestion{0, "channel",
                    "on one channel, " + rounded(size(0) / size(1)) + " times the next, in pops (kurtosis " +
                        rounded(c.face.kurtosis) + ")"};
}

bool is_fast(const Faces& all, const Face& face) {
  const auto rising = slope(all, face);
  return rising && *rising >= -0.2 && share(all, face, 20, highest(all)) >= 0.5;
}

// Where most components are fast the recording is: it is noise, or filtered, or muscles are everywhere.
bool is_fast(const Faces& all) {
  const auto fast = std::ranges::count_if(all.faces, [&](const Face& face) { return is_fast(all, face); });
  return 2 * fast > std::ssize(all.faces);
}

Found muscle(const Looks& c) {
  if (!c.place.is_rim_known || c.place.rim < 1 || !is_fast(c.all, c.face) || is_fast(c.all)) return {};
  return Suggestion{0, "muscle",
                    rounded(100 * share(c.all, c.face, 20, highest(c.all))) +
                        " % of its power above 20 Hz, at the rim of the cap"};
}

}  // namespace

std::vector<Suggestion> suggestions(const Faces& faces, const Positions& positions) {
  const Places places(positions);
  std::vector<Suggestion> out;
  Index present = 0;
  for (Index k = 0; k < std::ssize(faces.faces); ++k) {
    const Face& face = faces.faces[static_cast<std::size_t>(k)];
    if (!(face.deviation > 0)) continue;
    ++present;
    const Looks looks{faces, face, places.of(faces.maps.col(k)), faces.maps.col(k)};
    for (const auto& rule : {eyes, heart, line, channel, muscle}) {
      if (Found found = rule(looks)) {
        found->component = k;
        out.push_back(std::move(*found));
        break;
      }
    }
  }
  if (std::ssize(out) == present) out.clear();  // nothing would be left
  return out;
}

}  // namespace demix::eeg
