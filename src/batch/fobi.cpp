#include "demix/fobi.hpp"

#include <Eigen/Eigenvalues>

#include <algorithm>
#include <cmath>
#include <limits>

#include "batch/frame.hpp"

namespace demix {
namespace {

template <typename T>
Model fobi_of(const Frames<T>& X, const FobiOptions& options) {
  const ProgressCallback& progress = options.progress;
  const Whitening white = prepare<T>(X, options.whitening, progress);  // h = P (x - mean)
  WeightedMoments weighted(white.mean, white.whitener, options.weight);
  for_each_chunk<T>(X, progress, 1. / 3, 2. / 3, [&](const Frames<T>& chunk) { weighted.add(chunk); });
  const Eigen::SelfAdjointEigenSolver<Matrix<double>> eig(weighted.covariance());  // C_z = U D U^T
  Model model = finish<T>(X, white, eig.eigenvectors().transpose(), options.weight, progress);  // y = U^T h
  model.method = "fobi";
  model.options["weight"] = weight_name(options.weight);
  return model;
}

}  // namespace

Model fobi(const Frames<float>& X, const FobiOptions& options) { return fobi_of<float>(X, options); }
Model fobi(const Frames<double>& X, const FobiOptions& options) { return fobi_of<double>(X, options); }

Matrix<double> fobi_crosstalk(const Frames<double>& Y, Weight weight, std::int64_t samples) {
  const Index d = Y.rows();
  const auto n = static_cast<double>(Y.cols());
  const Matrix<double> S = Y.array().square();  // y_i^2
  Vector<double> w = S.colwise().sum().transpose();
  const Vector<double> slope = w.unaryExpr([&](double a) { return weight_derivative(weight, a); });
  w = w.unaryExpr([&](double a) { return weight_value(weight, a); });

  // m_p = E[w^p y_i^2 y_j^2],  k = E[w' y_i^2 y_j^2],  D_i = E[w y_i^2]
  const Matrix<double> St = S.transpose() / n;
  const Matrix<double> m0 = S * St;
  const Matrix<double> m1 = S * (w.asDiagonal() * St);
  const Matrix<double> m2 = S * (w.array().square().matrix().asDiagonal() * St);
  const Matrix<double> k = S * (slope.asDiagonal() * St);
  const Vector<double> D = S * w / n;

  const double count = samples > 0 ? static_cast<double>(samples) : n;
  Matrix<double> deviation = Matrix<double>::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (i == j) continue;
      const double centre = D(i) + 2 * k(i, j);
      const double variance = m2(i, j) - 2 * centre * m1(i, j) + centre * centre * m0(i, j);
      const double gap = std::max(std::abs(D(i) - D(j)), std::numeric_limits<double>::min());
      deviation(i, j) = std::sqrt(std::max(variance, 0.0) / count) / gap;
    }
  }
  return deviation;
}

}  // namespace demix
