#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "demix/random.hpp"
#include "demix/signal_stream.hpp"
#include "demix/types.hpp"

/// Real recordings from $DEMIX_DATA, or generated stand-ins that say so. `real` tells which.
namespace demix::testing {

/// The bytes of a file in $DEMIX_DATA, empty if there is none.
inline std::string data_file(const std::string& name) {
  const char* folder = std::getenv("DEMIX_DATA");
  if (folder == nullptr) return {};
  std::ifstream file(std::string(folder) + "/" + name, std::ios::binary);
  return {(std::istreambuf_iterator<char>(file)), {}};
}

/// Rows to mean 0 and variance 1.
inline void standardise(Matrix<double>& S) {
  for (Index i = 0; i < S.rows(); ++i) {
    S.row(i).array() -= S.row(i).mean();
    S.row(i) *= std::sqrt(static_cast<double>(S.cols())) / S.row(i).norm();
  }
}

/// Three photographs, 512 x 256 pixels each, one row per picture in raster order.
inline Matrix<double> photographs(bool& real) {
  constexpr Index pixels = 512 * 256;
  Matrix<double> S(3, pixels);
  real = true;
  for (Index i = 0; i < 3; ++i) {
    const char* names[] = {"astronaut", "coffee", "rocket"};
    const std::string bytes = data_file(std::string("images_free/") + names[i] + "_256x512.pgm");
    real = real && bytes.size() > pixels;
    for (Index t = 0; real && t < pixels; ++t) {  // the pixels are the last bytes of a binary PGM
      S(i, t) = static_cast<unsigned char>(bytes[bytes.size() - pixels + static_cast<std::size_t>(t)]);
    }
  }
  if (!real) {  // patches: long runs of one brightness, of a different distribution in each
    std::printf("[   NOTE   ] no photographs in $DEMIX_DATA: using a generated stand-in\n");
    Random random(17);
    for (Index i = 0; i < 3; ++i) {
      double level = 0;
      for (Index t = 0; t < pixels; ++t) {
        if (random.below(200) == 0) level = std::pow(random.uniform(), static_cast<double>(1 + 3 * i));
        S(i, t) = level + 0.05 * random.normal();
      }
    }
  }
  standardise(S);
  return S;
}

/// 32 channels of EEG (EDF), or a stand-in: slow waves and bursts, mixed.
inline Matrix<double> eeg(bool& real) {
  const std::string bytes = data_file("eeg_eeglab/eeglab_data.edf");
  real = bytes.size() > 256;
  if (!real) {
    std::printf("[   NOTE   ] no EEG in $DEMIX_DATA: using a generated stand-in\n");
    Random random(18);
    Matrix<double> S(32, 30000);
    for (Index i = 0; i < 32; ++i) {
      double wave = 0;
      for (Index t = 0; t < S.cols(); ++t) {
        wave = 0.95 * wave + random.normal();
        const double phase = static_cast<double>(t) / static_cast<double>(300 + 40 * i);
        S(i, t) = wave * (1 + std::pow(std::abs(std::sin(phase)), static_cast<double>(1 + i)) *
                                  static_cast<double>(i) / 4);
      }
    }
    return random.normal(32, 32) * S;
  }
  const auto number = [&](std::size_t at, std::size_t size) {
    return std::atof(bytes.substr(at, size).c_str());
  };
  const auto signals = static_cast<Index>(number(252, 4));
  const auto records = static_cast<Index>(number(236, 8));
  const auto field = [&](Index offset, Index width, Index i) {
    return number(static_cast<std::size_t>(256 + offset * signals + width * i),
                  static_cast<std::size_t>(width));
  };
  const auto per_record = static_cast<Index>(field(216, 8, 0));
  Matrix<double> X(signals, records * per_record);
  auto at = static_cast<std::size_t>(number(184, 8));
  for (Index r = 0; r < records; ++r) {
    for (Index i = 0; i < signals; ++i) {
      const double gain = (field(112, 8, i) - field(104, 8, i)) / (field(128, 8, i) - field(120, 8, i));
      for (Index k = 0; k < per_record; ++k, at += 2) {
        const auto low = static_cast<unsigned char>(bytes.at(at));
        const auto high = static_cast<unsigned char>(bytes.at(at + 1));
        X(i, r * per_record + k) =
            field(104, 8, i) + gain * (static_cast<std::int16_t>(low | high << 8) - field(120, 8, i));
      }
    }
  }
  return X;
}

/// Male voice, female voice, uniform noise: 3 x 32851, mean 0, variance 1. `real` says whether it is the TSP
/// speech.
inline Matrix<double> speech(bool& real) {
  constexpr Index T = 32851;
  const char* folder = std::getenv("DEMIX_DATA");
  Matrix<double> S(3, T);
  Random random(16);
  real = folder != nullptr;
  Index row = 0;
  for (const char* name : {"MA02_04.wav", "FA01_03.wav"}) {
    const std::string path = std::string(folder == nullptr ? "" : folder) + "/speech_tsp/" + name;
    real = real && std::filesystem::exists(path);
    if (!real) break;
    io::StreamReader reader(path, io::Encoding::wav, {.channels = 1});
    Matrix<double> samples = Matrix<double>::Zero(1, T);
    for (Index got = 0; got < T && !reader.ended();) got += reader.read_some(samples.rightCols(T - got));
    S.row(row++) = samples;
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
  standardise(S);
  return S;
}

}  // namespace demix::testing
