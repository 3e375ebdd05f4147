#include "batch/coherence.hpp"

#include <unsupported/Eigen/FFT>

#include <algorithm>
#include <cmath>
#include <complex>
#include <numbers>

#include "core/frame_kernels.hpp"

namespace demix {
namespace {

// Of one frequency: a column for each segment, real parts of all rows above imaginary ones.
using Spectra = LineMatrix<float>;

// One for every other frequency, as the window makes neighbours alike. These are the frequencies of a segment
// whose second half is added to its first.
std::vector<Spectra> spectra_of(const Matrix<float>& Y, Index N) {
  const Index segments = Y.cols() / N;
  const Index d = Y.rows();
  std::vector<Spectra> F(static_cast<std::size_t>(N / 4 + 1));
  for (Spectra& f : F) {
    f.resize(block_stride<float>(2 * d), segments);
    f.setZero();
  }
  Eigen::FFT<float> fft;
  fft.SetFlag(Eigen::FFT<float>::HalfSpectrum);
  std::vector<float> window(static_cast<std::size_t>(N));
  for (std::size_t t = 0; t < window.size(); ++t) {
    window[t] = static_cast<float>(
        0.5 - 0.5 * std::cos(2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(N)));
  }
  const auto half = static_cast<std::size_t>(N / 2);
  std::vector<float> y(half);
  std::vector<std::complex<float>> spectrum;
  for (Index s = 0; s < segments; ++s) {
    for (Index i = 0; i < d; ++i) {
      for (std::size_t k = 0; k < half; ++k) {
        const Index t = s * N + static_cast<Index>(k);
        y[k] = window[k] * Y(i, t) + window[half + k] * Y(i, t + N / 2);
      }
      fft.fwd(spectrum, y);
      for (std::size_t f = 0; f < F.size(); ++f) {
        F[f](i, s) = spectrum[f].real();
        F[f](d + i, s) = spectrum[f].imag();
      }
    }
  }
  return F;
}

// Columns in the order they have `shift` segments later, the first following the last.
void roll(const Spectra& F, Index shift, Spectra& to) {
  to.resize(F.rows(), F.cols());
  to.leftCols(F.cols() - shift) = F.rightCols(F.cols() - shift);
  to.rightCols(shift) = F.leftCols(shift);
}

// A little of one row in another is no echo, though it may be all there is of a frequency in it: so much of
// the power of each is added to that of the other.
constexpr double little = 0.03;

// Of the d rows and the rows `shift` segments later.
Matrix<double> coherence_at(const std::vector<Spectra>& spectra, Index d, Index shift) {
  Matrix<double> sum = Matrix<double>::Zero(d, d);
  Matrix<double> weight = Matrix<double>::Zero(d, d);
  Spectra later;
  for (const Spectra& F : spectra) {
    roll(F, shift, later);
    Matrix<double> S = Matrix<double>::Zero(2 * d, 2 * d);
    add_product(F, later, S);
    // |sum F_i conj(F_j)|^2
    const Matrix<double> real = S.topLeftCorner(d, d) + S.bottomRightCorner(d, d);
    const Matrix<double> imaginary = S.bottomLeftCorner(d, d) - S.topRightCorner(d, d);
    const Vector<double> power = F.middleRows(0, d).cast<double>().rowwise().squaredNorm() +
                                 F.middleRows(d, d).cast<double>().rowwise().squaredNorm();
    const Vector<double> root = power.cwiseSqrt();
    for (Index j = 0; j < d; ++j) {
      for (Index i = 0; i < d; ++i) {
        const double both = root(i) * root(j);
        if (both == 0) continue;
        const double of_i = power(i) + little * power(j);
        const double of_j = power(j) + little * power(i);
        sum(i, j) += both * (real(i, j) * real(i, j) + imaginary(i, j) * imaginary(i, j)) / (of_i * of_j);
        weight(i, j) += both;
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
  Coherence out{corrected(coherence_at(spectra, d, 0)), 0};
  if (out.pairs.maxCoeff() <= suspicious) return out;
  const Index shifts = std::clamp<Index>(32 / (d * (d - 1)), 1, segments / 4);
  for (Index k = 1; k <= shifts; ++k) {
    const Index shift = k * segments / (2 * shifts + 1);
    out.by_chance = std::max(out.by_chance, corrected(coherence_at(spectra, d, shift)).maxCoeff());
  }
  return out;
}

}  // namespace demix
