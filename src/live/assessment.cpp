#include "live/assessment.hpp"

#include <cmath>
#include <complex>
#include <limits>
#include <numbers>
#include <stdexcept>
#include <unsupported/Eigen/FFT>

#include "demix/crosstalk.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/version.hpp"
#include "online/contrast_crosstalk.hpp"
#include "online/output_kurtosis.hpp"

namespace demix::live {
namespace {

Matrix<double> rows_in_use(const Snapshot& s) {
  const std::vector<Index> which = outputs_in_use(s.unmixing);
  Matrix<double> U(static_cast<Index>(which.size()), s.unmixing.cols());
  for (Index i = 0; i < U.rows(); ++i) U.row(i) = s.unmixing.row(which[static_cast<std::size_t>(i)]);
  return U;
}

// With unmixing * mixing = I: what the stream has, or where that is not known the pseudo-inverse.
Matrix<double> mixing_of(const Snapshot& s) {
  const std::vector<Index> which = outputs_in_use(s.unmixing);
  const Matrix<double> U = rows_in_use(s);
  Matrix<double> A(s.mixing.rows(), U.rows());
  for (Index i = 0; i < U.rows(); ++i) A.col(i) = s.mixing.col(which[static_cast<std::size_t>(i)]);
  const Matrix<double> product = U * A;
  if ((product - Matrix<double>::Identity(U.rows(), U.rows())).norm() < 1e-3) return A * inverse(product);
  const Vector<double> unit = U.colwise().norm().transpose().cwiseMax(1e-300).cwiseInverse();
  return unit.asDiagonal() * pseudo_inverse(U * unit.asDiagonal());
}

}  // namespace

std::vector<Index> outputs_in_use(const Matrix<double>& unmixing) {
  std::vector<Index> which;
  for (Index k = 0; k < unmixing.rows(); ++k) {
    if (unmixing.row(k).squaredNorm() > 0) which.push_back(k);
  }
  return which;
}

Assessment assess(const Matrix<double>& sample, const Snapshot& s, const StreamOptions& options) {
  const Index outputs = s.unmixing.rows();
  Assessment a;
  a.kurtosis = a.kurtosis_error = Vector<double>::Constant(outputs, std::numeric_limits<double>::quiet_NaN());
  a.power = Vector<double>::Zero(outputs);
  a.mixing = a.weights = Matrix<double>::Zero(s.unmixing.cols(), outputs);
  const std::vector<Index> which = outputs_in_use(s.unmixing);
  const auto rank = static_cast<Index>(which.size());
  if (rank == 0 || sample.cols() < 2) return a;

  const Vector<double> mean = options.filter.empty() ? s.mean : Vector<double>(sample.rowwise().mean());
  const Matrix<double> centred = sample.colwise() - mean;
  const Vector<double> power = centred.cwiseAbs2().rowwise().mean();
  const Vector<double> deviation = power.cwiseSqrt().cwiseMax(1e-300);
  const Matrix<double> A = mixing_of(s);
  const Matrix<double> Y = rows_in_use(s) * centred;
  for (Index i = 0; i < rank; ++i) {
    const Index k = which[static_cast<std::size_t>(i)];
    const OutputKurtosis kurtosis = kurtosis_of(Y.row(i).transpose().array(), s.counts.learned);
    a.kurtosis(k) = kurtosis.value;
    a.kurtosis_error(k) = kurtosis.error;
    a.power(k) = A.col(i).squaredNorm() * Y.row(i).squaredNorm() /
                 std::max(1e-300, power.sum() * static_cast<double>(Y.cols()));
    a.mixing.col(k) = A.col(i);
    a.weights.col(k) = A.col(i).cwiseQuotient(deviation);
  }
  const bool one_pass = options.learn == StreamOptions::Learn::one_pass;
  const Matrix<double> crosstalk =
      one_pass ? contrast_crosstalk(Y, s.counts.learned)
               : fobi_crosstalk(Y, options.weight, static_cast<std::int64_t>(s.counts.learned));
  a.expected_error = expected_error(crosstalk, Y.cols());
  for (Index i = 0; i < rank; ++i) {
    for (Index j = i + 1; j < rank; ++j) {
      if (std::max(crosstalk(i, j), crosstalk(j, i)) > trusted_crosstalk)
        a.unresolved.emplace_back(which[static_cast<std::size_t>(i)], which[static_cast<std::size_t>(j)]);
    }
  }
  return a;
}

Model model_of(const Snapshot& s, const Assessment& a, const StreamOptions& options) {
  const std::vector<Index> which = outputs_in_use(s.unmixing);
  if (which.empty()) throw std::invalid_argument("nothing is separated yet");
  Model model;
  model.method = "stream";
  model.version = version;
  model.options = {{"learn", std::string(learn_name(options.learn))}};
  if (options.memory > 0) model.options["memory"] = std::to_string(std::llround(options.memory));
  if (options.robust) model.options["robust"] = "yes";
  model.samples = std::llround(s.counts.learned);
  model.mean = s.mean;
  model.unmixing = rows_in_use(s);
  model.mixing = mixing_of(s);
  model.kurtosis = a.kurtosis(which).unaryExpr([](double k) { return std::isfinite(k) ? k : 3; });
  if (!model.unmixing.allFinite() || !model.mixing.allFinite() || !model.kurtosis.allFinite()) {
    throw std::invalid_argument("what was learned has overflowed; there is no model of it");
  }
  if (!s.counts.settled) {
    model.warnings.push_back(
        {Warning::Kind::not_converged, "the outputs have not converged yet: the model is a snapshot", {}});
  }
  return model;
}

std::vector<double> spectrum(const Vector<double>& x) {
  Index length = 1024;
  while (length > x.size() / 2 && length > 32) length /= 2;
  if (x.size() < length) return {};
  std::vector<double> power(static_cast<std::size_t>(length / 2), 0.0);
  std::vector<double> part(static_cast<std::size_t>(length));
  std::vector<std::complex<double>> bins;
  Eigen::FFT<double> fft;
  const double mean = x.mean();
  Index parts = 0;
  for (Index at = 0; at + length <= x.size(); at += length / 2, ++parts) {
    for (Index t = 0; t < length; ++t) {
      const double angle = 2 * std::numbers::pi * static_cast<double>(t) / static_cast<double>(length);
      part[static_cast<std::size_t>(t)] = (x(at + t) - mean) * (0.5 - 0.5 * std::cos(angle));
    }
    fft.fwd(bins, part);
    for (std::size_t k = 0; k < power.size(); ++k) power[k] += std::norm(bins[k]);
  }
  for (double& p : power) p = 10 * std::log10(p / static_cast<double>(parts * length) + 1e-30);
  return power;
}

}  // namespace demix::live
