#include "demix/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include "demix/assignment.hpp"
#include "demix/linear_algebra.hpp"

namespace demix {
namespace {

void require_same_shape(Index rows_a, Index cols_a, Index rows_b, Index cols_b) {
  if (rows_a == rows_b && cols_a == cols_b) return;
  throw std::invalid_argument("sources and outputs: expected the same shape, got " + std::to_string(rows_a) +
                              " x " + std::to_string(cols_a) + " and " + std::to_string(rows_b) + " x " +
                              std::to_string(cols_b) + " (components x frames)");
}

Matching signed_matching(std::vector<Index> output, const Matrix<double>& correlation) {
  Matching m;
  m.output = std::move(output);
  for (std::size_t i = 0; i < m.output.size(); ++i) {
    m.sign.push_back(correlation(static_cast<Index>(i), m.output[i]) < 0 ? -1 : 1);
  }
  return m;
}

double decibel(double signal, double error) {
  constexpr double most = 300;
  if (signal <= 0) return -most;
  if (error <= 0) return most;
  return std::clamp(10 * std::log10(signal / error), -most, most);
}

}  // namespace

RunningMse::RunningMse(Index d)
    : ss_(Vector<double>::Zero(d)), yy_(Vector<double>::Zero(d)), sy_(Matrix<double>::Zero(d, d)) {}

void RunningMse::add(const Frames<double>& S, const Frames<double>& Y) {
  require_same_shape(S.rows(), S.cols(), Y.rows(), Y.cols());
  require_same_shape(S.rows(), S.cols(), ss_.size(), S.cols());
  ss_ += S.rowwise().squaredNorm();
  yy_ += Y.rowwise().squaredNorm();
  sy_.noalias() += S * Y.transpose();
  count_ += S.cols();
}

void RunningMse::add(const Frames<float>& S, const Frames<float>& Y) {
  const Matrix<double> s = S.cast<double>();
  const Matrix<double> y = Y.cast<double>();
  add(Frames<double>(s), Frames<double>(y));
}

// sum ||s_i -+ y_j||^2 under the better sign
Matrix<double> RunningMse::cost() const {
  return (ss_.replicate(1, yy_.size()) + yy_.transpose().replicate(ss_.size(), 1) - 2 * sy_.cwiseAbs())
      .cwiseMax(0);
}

Matching RunningMse::matching() const { return signed_matching(assign(cost()), sy_); }

Vector<double> RunningMse::mse_per_source() const {
  const Matrix<double> c = cost();
  const std::vector<Index> p = assign(c);
  Vector<double> error(c.rows());
  for (Index i = 0; i < error.size(); ++i) {
    error(i) = c(i, p[static_cast<std::size_t>(i)]) / static_cast<double>(count_);
  }
  return error;
}

double RunningMse::mse() const {
  if (count_ == 0) return std::numeric_limits<double>::quiet_NaN();
  return mse_per_source().mean();
}

double mse(const Frames<double>& S, const Frames<double>& Y) {
  RunningMse running(S.rows());
  running.add(S, Y);
  return running.mse();
}

// E||s_i -+ y_j||^2 = 1 + ||row j of P||^2 - 2 |P_ji|
double mse_of_gain(const Matrix<double>& P) {
  const Index d = P.rows();
  if (P.cols() != d || d == 0) throw std::invalid_argument("P: expected a square matrix");
  Matrix<double> cost(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j)
      cost(i, j) = std::max(0.0, 1 + P.row(j).squaredNorm() - 2 * std::abs(P(j, i)));
  }
  const std::vector<Index> p = assign(cost);
  double sum = 0;
  for (Index i = 0; i < d; ++i) sum += cost(i, p[static_cast<std::size_t>(i)]);
  return sum / static_cast<double>(d);
}

double amari_index(const Matrix<double>& P) {
  const Index d = P.rows();
  if (P.cols() != d || d == 0) throw std::invalid_argument("P: expected a square matrix");
  if (d == 1) return 0;
  const Matrix<double> a = P.cwiseAbs();
  const double by_row = (a.rowwise().sum().array() / a.rowwise().maxCoeff().array() - 1).sum();
  const double by_col = (a.colwise().sum().array() / a.colwise().maxCoeff().array() - 1).sum();
  return (by_row + by_col) / static_cast<double>(2 * d * (d - 1));
}

// The best multiple of row r of P for row i of the identity leaves 1 - p_ri^2 / ||p_r||^2.
double md_index(const Matrix<double>& P) {
  const Index d = P.rows();
  if (P.cols() != d || d == 0) throw std::invalid_argument("P: expected a square matrix");
  if (d == 1) return 0;
  Matrix<double> left(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index r = 0; r < d; ++r) left(i, r) = 1 - P(r, i) * P(r, i) / P.row(r).squaredNorm();
  }
  const std::vector<Index> p = assign(left);
  double sum = 0;
  for (Index i = 0; i < d; ++i) sum += std::max(0.0, left(i, p[static_cast<std::size_t>(i)]));
  return std::sqrt(sum / static_cast<double>(d - 1));
}

BssEval bss_eval(const Frames<double>& S, const Frames<double>& Y, const Matching* matching) {
  require_same_shape(S.rows(), S.cols(), Y.rows(), Y.cols());
  const Index d = S.rows();
  // Y = G S + artefacts, G by least squares; the target in output j for source i is <y_j, s_i>/<s_i, s_i>
  // s_i.
  const Matrix<double> SS = S * S.transpose();
  const Matrix<double> YS = Y * S.transpose();
  const Matrix<double> G = least_squares(SS, YS.transpose()).transpose();
  const Matrix<double> projected = G * S;
  const Vector<double> artefact = (Y - projected).rowwise().squaredNorm();
  const Vector<double> explained = projected.rowwise().squaredNorm();

  Matrix<double> target(d, d);
  Matrix<double> interference(d, d);
  Matrix<double> cost(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      const double gain = SS(i, i) > 0 ? YS(j, i) / SS(i, i) : 0;
      target(i, j) = gain * gain * SS(i, i);
      // || projected_j - gain s_i ||^2, directly: the difference of large numbers would lose it
      interference(i, j) = (projected.row(j) - gain * S.row(i)).squaredNorm();
      cost(i, j) = -decibel(target(i, j), interference(i, j));
    }
  }
  BssEval result;
  result.matching = matching != nullptr ? *matching : signed_matching(assign(cost), YS.transpose());
  result.sdr = result.sir = result.sar = Vector<double>(d);
  for (Index i = 0; i < d; ++i) {
    const Index j = result.matching.output[static_cast<std::size_t>(i)];
    result.sdr(i) = decibel(target(i, j), interference(i, j) + artefact(j));
    result.sir(i) = decibel(target(i, j), interference(i, j));
    result.sar(i) = decibel(explained(j), artefact(j));
  }
  return result;
}

Matrix<double> standardized(const Frames<double>& X) {
  Matrix<double> Z = X;
  for (Index i = 0; i < Z.rows(); ++i) {
    const double largest = Z.row(i).cwiseAbs().maxCoeff();
    if (largest > 0) Z.row(i) /= largest;  // so that no square overflows or vanishes
    Z.row(i).array() -= Z.row(i).mean();
    const double deviation = std::sqrt(Z.row(i).squaredNorm() / static_cast<double>(Z.cols()));
    const bool constant = deviation <= 16 * std::numeric_limits<double>::epsilon();
    Z.row(i) *= constant ? 0 : 1 / deviation;
  }
  return Z;
}

}  // namespace demix
