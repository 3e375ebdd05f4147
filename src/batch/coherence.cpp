#include "batch/coherence.hpp"

#include <unsupported/Eigen/FFT>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

namespace demix {
namespace {

using Spectra = Eigen::Matrix<std::complex<float>, Eigen::Dynamic, Eigen::Dynamic>;

// One matrix for every other frequency, as the window makes neighbours alike: rows x segments.
std::vector<Spectra> spectra_of(const Matrix<float>& Y, Index N) {
  const Index segments = Y.cols() / N;
  std::vector<Spectra> F(static_cast<std::size_t>(N / 4 + 1), Spectra(Y.rows(), segments));
  Eigen::FFT<float> fft;
  fft.SetFlag(Eigen::FFT<float>::HalfSpectrum);
  std::vector<float> window(static_cast<std::size_t>(N));
  for (std::size_t t = 0; t < window.size(); ++t) {
    window[t] = static_cast<float>(
        0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(N)));
  }
  std::vector<float> y(window.size());
  std::vector<std::complex<float>> spectrum;
  for (Index s = 0; s < segments; ++s) {
    for (Index i = 0; i < Y.rows(); ++i) {
      for (Index t = 0; t < N; ++t) {
        const auto k = static_cast<std::size_t>(t);
        y[k] = window[k] * Y(i, s * N + t);
      }
      fft.fwd(spectrum, y);
      for (std::size_t f = 0; f < F.size(); ++f) F[f](i, s) = spectrum[2 * f];
    }
  }
  return F;
}

}  // namespace

Matrix<double> mean_coherence(const Matrix<float>& Y, Index N, bool overlap) {
  const auto segments = static_cast<double>(Y.cols() / N);
  const Index d = Y.rows();
  Matrix<double> sum = Matrix<double>::Zero(d, d);
  Matrix<double> weight = Matrix<double>::Zero(d, d);
  for (const Spectra& F : spectra_of(Y, N)) {
    const Spectra S = F * F.adjoint();
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < j; ++i) {
        const double power = static_cast<double>(S(i, i).real()) * static_cast<double>(S(j, j).real());
        if (!(power > 0)) continue;
        const double a = std::sqrt(power);
        sum(i, j) += a * static_cast<double>(std::norm(S(i, j))) / power;
        weight(i, j) += a;
      }
    }
  }
  // Neighbours that share half of their frames have spectra of correlation 1/6 (Welch 1967).
  const double chance = overlap ? (1 + 2. / 36) / segments : 1 / segments;
  Matrix<double> out = Matrix<double>::Zero(d, d);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double mean = weight(i, j) > 0 ? sum(i, j) / weight(i, j) : 0;
      out(i, j) = out(j, i) = std::clamp((mean - chance) / (1 - chance), 0.0, 1.0);
    }
  }
  return out;
}

}  // namespace demix
