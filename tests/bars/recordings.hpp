#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>

#include "demix/random.hpp"
#include "demix/types.hpp"

/// Real recordings from $DEMIX_DATA, or generated stand-ins that say so.
namespace demix::testing {

/// The samples of a 16-bit mono WAV file, empty if there is none.
inline Vector<double> read_wav(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  const std::string bytes((std::istreambuf_iterator<char>(file)), {});
  const auto byte = [&](std::size_t k) {
    return static_cast<std::uint32_t>(static_cast<unsigned char>(bytes.at(k)));
  };
  for (std::size_t at = 12; at + 8 <= bytes.size();) {  // chunk by chunk
    const std::size_t size = byte(at + 4) | byte(at + 5) << 8 | byte(at + 6) << 16 | byte(at + 7) << 24;
    if (bytes.compare(at, 4, "data") == 0) {
      Vector<double> v(static_cast<Index>(std::min(size, bytes.size() - at - 8) / 2));
      for (Index t = 0; t < v.size(); ++t) {
        const std::size_t k = at + 8 + 2 * static_cast<std::size_t>(t);
        v(t) = static_cast<std::int16_t>(byte(k) | byte(k + 1) << 8);
      }
      return v;
    }
    at += 8 + size + size % 2;
  }
  return {};
}

/// Male voice, female voice, uniform noise: 3 x 32851, mean 0, variance 1. `real` says whether it is the TSP
/// speech.
inline Matrix<double> speech(bool& real) {
  constexpr Index T = 32851;
  const char* folder = std::getenv("DEMIX_DATA");
  Matrix<double> S(3, T);
  Random random(16);
  real = false;
  if (folder != nullptr) {
    const Vector<double> male = read_wav(std::string(folder) + "/speech_tsp/MA02_04.wav");
    const Vector<double> female = read_wav(std::string(folder) + "/speech_tsp/FA01_03.wav");
    real = male.size() >= T && female.size() >= T;
    if (real) {
      S.row(0) = male.head(T).transpose();
      S.row(1) = female.head(T).transpose();
    }
  }
  if (!real) {  // bursts of Laplace noise: spiky like speech, one spikier than the other (kurtosis near 20
                // and near 6)
    std::printf("[   NOTE   ] no speech in $DEMIX_DATA: using a generated stand-in\n");
    for (Index t = 0; t < T; ++t) {
      const double syllable = std::pow(std::sin(static_cast<double>(t) / 3000), 4);
      S(0, t) = random.laplace() * (0.03 + syllable);
      S(1, t) = random.laplace();
    }
  }
  for (Index t = 0; t < T; ++t) S(2, t) = random.uniform(-1, 1);
  for (Index i = 0; i < 3; ++i) {
    S.row(i).array() -= S.row(i).mean();
    S.row(i) *= std::sqrt(static_cast<double>(T)) / S.row(i).norm();
  }
  return S;
}

}  // namespace demix::testing
