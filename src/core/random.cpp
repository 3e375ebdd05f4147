#include "demix/random.hpp"

#include <bit>
#include <cmath>

#include "core/archive.hpp"

namespace demix {

// log x = e log 2 + 2 atanh(s), s = (m - 1)/(m + 1), x = m 2^e with m in [1/sqrt2, sqrt2), so |s| < .172
double portable_log(double x) {
  int e = 0;
  double m = std::frexp(x, &e);
  if (m < 0.70710678118654752) {
    m *= 2;
    --e;
  }
  const double s = (m - 1) / (m + 1);
  const double s2 = s * s;
  double series = 0;
  for (int k = 23; k >= 1; k -= 2) series = series * s2 + 1.0 / k;  // s^24 < 1e-18
  return e * 0.69314718055994531 + 2 * s * series;
}

// Fold t into [-1/4, 1/4], where sin 2 pi t is odd and monotone, and sum the Taylor series there.
double portable_sin2pi(double t) {
  t -= std::floor(t);  // [0, 1)
  if (t > 0.75) {
    t -= 1;
  } else if (t > 0.25) {
    t = 0.5 - t;
  }
  const double a = 6.2831853071795865 * t;  // |a| <= pi/2
  const double a2 = a * a;
  double series = 1;
  for (int k = 22; k >= 2; k -= 2) series = 1 - series * a2 / (k * (k + 1));
  return a * series;
}

Random::Random(std::uint64_t seed) {
  for (auto& word : state_) {  // splitmix64
    seed += 0x9e3779b97f4a7c15U;
    std::uint64_t z = seed;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
    word = z ^ (z >> 31);
  }
}

void Random::loaded() const {
  const bool stuck = (state_[0] | state_[1] | state_[2] | state_[3]) == 0;
  require_state(!stuck, "a random generator at rest");
}

std::uint64_t Random::bits() {
  const std::uint64_t result = std::rotl(state_[0] + state_[3], 23) + state_[0];
  const std::uint64_t t = state_[1] << 17;
  state_[2] ^= state_[0];
  state_[3] ^= state_[1];
  state_[1] ^= state_[2];
  state_[0] ^= state_[3];
  state_[2] ^= t;
  state_[3] = std::rotl(state_[3], 45);
  return result;
}

double Random::uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }

double Random::uniform(double lo, double hi) { return lo + (hi - lo) * uniform(); }

double Random::normal() {
  if (has_spare_) {
    has_spare_ = false;
    return spare_;
  }
  const double r = std::sqrt(-2 * portable_log(1 - uniform()));
  const double turn = uniform();
  spare_ = r * portable_sin2pi(turn);
  has_spare_ = true;
  return r * portable_sin2pi(turn + 0.25);
}

double Random::laplace() {
  const double u = uniform() - 0.5;
  const double magnitude = -portable_log(1 - 2 * std::abs(u));  // variance 2
  return (u < 0 ? -magnitude : magnitude) * 0.70710678118654752;
}

Index Random::below(Index n) { return static_cast<Index>(uniform() * static_cast<double>(n)); }

Matrix<double> Random::normal(Index rows, Index cols) {
  Matrix<double> a(rows, cols);
  for (Index i = 0; i < a.size(); ++i) a.data()[i] = normal();
  return a;
}

// Gram-Schmidt, twice for orthogonality to rounding, on Gaussian columns: Haar distributed. The inner product
// is a plain loop because a vectorised one sums in an order that depends on the machine.
Matrix<double> Random::orthogonal(Index n) {
  Matrix<double> q = normal(n, n);
  const auto dot = [&](Index i, Index j) {
    double sum = 0;
    for (Index r = 0; r < n; ++r) sum += q(r, i) * q(r, j);
    return sum;
  };
  for (Index k = 0; k < n; ++k) {
    for (int pass = 0; pass < 2; ++pass) {
      for (Index j = 0; j < k; ++j) q.col(k) -= dot(j, k) * q.col(j);
    }
    q.col(k) /= std::sqrt(dot(k, k));
  }
  return q;
}

}  // namespace demix
