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

// Of the rows and the rows `shift` segments later, the first segments following the last.
Matrix<double> coherence_at(const std::vector<Spectra>& spectra, Index shift) {
  const Index d = spectra[0].rows();
  const Index segments = spectra[0].cols();
  Matrix<double> sum = Matrix<double>::Zero(d, d);
  Matrix<double> weight = Matrix<double>::Zero(d, d);
  for (const Spectra& F : spectra) {
    const Vector<double> power = F.cwiseAbs2().rowwise().sum().cast<double>();
    Spectra S = F.leftCols(segments - shift) * F.rightCols(segments - shift).adjoint();
    if (shift > 0) S += F.rightCols(shift) * F.leftCols(shift).adjoint();
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < d; ++i) {
        if (!(power(i) > 0 && power(j) > 0)) continue;
        const double a = std::sqrt(power(i) * power(j));
        sum(i, j) += static_cast<double>(std::norm(S(i, j))) / a;
        weight(i, j) += a;
      }
    }
  }
  sum.diagonal().setZero();
  return weight.unaryExpr([](double w) { return w > 0 ? 1 / w : 0; }).cwiseProduct(sum);
}

}  // namespace

Coherence mean_coherence(const Matrix<float>& Y, Index N, bool overlap, double suspicious) {
  const std::vector<Spectra> spectra = spectra_of(Y, N);
  const Index segments = Y.cols() / N;
  const Index d = Y.rows();
  // Neighbours that share half of their frames have spectra of correlation 1/6 (Welch 1967).
  const double expected = (overlap ? 1 + 2. / 36 : 1) / static_cast<double>(segments);
  const auto corrected = [&](const Matrix<double>& c) -> Matrix<double> {
    return ((c.array() - expected) / (1 - expected)).max(0).min(1);
  };
  Coherence out{corrected(coherence_at(spectra, 0)), 0};
  if (out.pairs.maxCoeff() <= suspicious) return out;
  const Index shifts = std::clamp<Index>(32 / (d * (d - 1)), 1, segments / 4);
  for (Index k = 1; k <= shifts; ++k) {
    const Index shift = k * segments / (2 * shifts + 1);
    out.by_chance = std::max(out.by_chance, corrected(coherence_at(spectra, shift)).maxCoeff());
  }
  return out;
}

}  // namespace demix
