#pragma once

#include <cstdint>
#include <string_view>

#include "demix/random.hpp"
#include "demix/types.hpp"

/// Sources and mixtures to test with, from a seed, the same numbers on every machine.
namespace demix {

/// The paper's sources and some more, each of variance 1 and, but for the last, mean 0.
enum class Source {
  square,       ///< sign cos 2 pi 155 t, kurtosis 1
  sine,         ///< sin 2 pi 180 t, kurtosis 1.5
  sawtooth,     ///< at 200 Hz, kurtosis 1.8
  laplace,      ///< noise, kurtosis 6
  uniform,      ///< noise, kurtosis 1.8
  nonnegative,  ///< noise, 0 half of the time, else uniform up to sqrt(48/5); kurtosis 2.38
};

/// How a source unfolds: every sample independent (the waveform at a random phase), or as a waveform over one
/// second, t = 0 ... 1 in T steps. Noise is the same either way.
enum class Timing { iid, waveform };

double source_kurtosis(Source source);
std::string_view source_name(Source source);
std::vector<std::string> source_names();
Source source_named(std::string_view name);  ///< throws std::invalid_argument listing the names

/// One row per source.
Matrix<double> make_sources(const std::vector<Source>& which, Index samples, Timing timing, Random& random,
                            const ProgressCallback& progress = {});

/// A ~ N(0, 1) / A ~ U(-half, half), redrawn while worse conditioned than 1e12 (never seen).
Matrix<double> normal_mixing(Index d, Random& random);
Matrix<double> uniform_mixing(Index d, double half, Random& random);

/// U diag(1 ... 1/condition) V^T, U and V random rotations, singular values evenly spread in their logarithm.
Matrix<double> conditioned_mixing(Index d, double condition, Random& random);

/// The four scenarios of appendix D: 1 and 2 are square, sine, sawtooth; 3 and 4 square, sine, Laplace. The
/// mixtures of 1 and 3 come whitened (by their sample covariance), those of 2 and 4 coloured, as mixed.
std::vector<Source> scenario_sources(int scenario);
bool scenario_is_white(int scenario);

struct Mixture {
  Matrix<double> sources;   ///< S
  Matrix<double> mixing;    ///< A, including the whitening if there was one
  Matrix<double> mixtures;  ///< X = A S
};

/// X = A S; with white = true, A is replaced by C_x^-1/2 A.
Mixture mix(Matrix<double> sources, const Matrix<double>& mixing, bool white = false);

/// A scenario with A ~ N(0, 1), everything from the seed.
Mixture make_scenario(int scenario, Index samples, std::uint64_t seed, Timing timing = Timing::iid);

}  // namespace demix
