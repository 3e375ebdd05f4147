#pragma once

#include <cstdint>

#include "demix/types.hpp"

/// Random numbers that are the same on every machine: the generator is integer arithmetic, and the functions
/// behind the distributions use only + - * / and sqrt, which IEEE 754 rounds in one way.
namespace demix {

/// log(x) for x > 0, within a few ulp, from IEEE operations alone.
double portable_log(double x);

/// sin(2 pi t), within a few ulp of 1, from IEEE operations alone. Exact zeros and ones at multiples of 1/4.
double portable_sin2pi(double t);

/// xoshiro256++ (Blackman and Vigna, 2019), seeded through splitmix64.
class Random {
 public:
  explicit Random(std::uint64_t seed = 0);

  std::uint64_t bits();
  double uniform();                      ///< in [0, 1), 53 bits
  double uniform(double lo, double hi);  ///< in [lo, hi)
  double normal();                       ///< mean 0, variance 1 (Box-Muller)
  double laplace();                      ///< mean 0, variance 1
  Index below(Index n);                  ///< 0 .. n-1

  Matrix<double> normal(Index rows, Index cols);
  Matrix<double> orthogonal(Index n);  ///< uniformly distributed (Haar) rotation or reflection

  template <typename Archive>
  void fields(Archive& a) {
    a(state_[0], state_[1], state_[2], state_[3], spare_, has_spare_);
  }
  void loaded() const;  ///< throws std::invalid_argument if the generator could not be there

 private:
  std::uint64_t state_[4];
  double spare_ = 0;
  bool has_spare_ = false;
};

}  // namespace demix
