#include "io/eeglab_positions.hpp"

#include <cmath>

namespace demix::io {

double head_unit(double mean_radius) {
  constexpr double usual_radius = 0.095;
  if (!(mean_radius > 0) || !std::isfinite(mean_radius)) return 0;
  if (mean_radius < 0.3) return 1;           // metres
  if (mean_radius < 2) return usual_radius;  // a sphere of radius 1
  return mean_radius < 20 ? 1e-2 : 1e-3;
}

void set_eeglab_positions(SignalInfo& info, const std::vector<Position>& places) {
  double sum = 0;
  int known = 0;
  for (const Position& p : places) {
    const double radius = std::hypot(p[0], p[1], p[2]);
    if (!std::isfinite(radius)) continue;
    sum += radius;
    ++known;
  }
  const double unit = known > 0 ? head_unit(sum / known) : 0;
  if (unit == 0) return;
  info.positions.assign(places.size(), std::nullopt);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const Position& p = places[i];
    if (!std::isfinite(p[0] + p[1] + p[2])) continue;
    info.positions[i] = {-p[1] * unit, p[0] * unit, p[2] * unit};
  }
}

}  // namespace demix::io
