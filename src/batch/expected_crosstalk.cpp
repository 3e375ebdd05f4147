#include "batch/expected_crosstalk.hpp"

#include <algorithm>
#include <cmath>

namespace demix {
namespace {

using Kind = EstimatingEquation::Kind;

// q_ij of a stretch is linear in its sums: coefficients of product_ij, product_ji and square_ij, and what the
// mean of q_ij is divided by.
struct Coefficients {
  Matrix<double> own, other, square, curvature;
};

Coefficients contrast_coefficients(const Vector<double>& slope, const Vector<double>& gy, bool squared) {
  const Vector<double> peaked = slope - gy;  // E[g'] - E[g y]
  const Vector<double> k =
      squared ? peaked : Vector<double>(peaked.unaryExpr([](double p) { return p < 0 ? -1.0 : 1.0; }));
  const Index d = k.size();
  Coefficients q{Matrix<double>(d, d), Matrix<double>(d, d), Matrix<double>(d, d), Matrix<double>(d, d)};
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      q.own(i, j) = k(i);
      q.other(i, j) = -k(j);
      q.square(i, j) = k(j) * slope(j) - k(i) * gy(i);
      q.curvature(i, j) = k(i) * peaked(i) + k(j) * peaked(j);
    }
  }
  return q;
}

Coefficients fobi_coefficients(const Vector<double>& D, const Matrix<double>& kappa) {
  const Index d = D.size();
  Coefficients q{Matrix<double>::Ones(d, d), Matrix<double>::Zero(d, d), Matrix<double>(d, d),
                 Matrix<double>(d, d)};
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      q.square(i, j) = -(D(i) + 2 * kappa(i, j));
      q.curvature(i, j) = D(i) - D(j);
    }
  }
  return q;
}

// The variance of the mean over all of them, given sums over groups of frames: q and how many frames.
struct Group {
  Matrix<double> q;
  double total = 0;
};

Matrix<double> variance_of_mean(const std::vector<Group>& groups) {
  double total = 0;
  Matrix<double> mean = Matrix<double>::Zero(groups[0].q.rows(), groups[0].q.cols());
  for (const Group& g : groups) {
    total += g.total;
    mean += g.q;
  }
  mean /= total;
  Matrix<double> variance = Matrix<double>::Zero(mean.rows(), mean.cols());
  for (const Group& g : groups) variance += ((g.q - g.total * mean) / total).cwiseAbs2();
  const auto n = static_cast<double>(groups.size());
  return variance * (n / (n - 1));
}

// Neighbours put together, so many at a time.
std::vector<Group> pooled(const std::vector<Group>& groups, std::size_t at_a_time) {
  std::vector<Group> out;
  for (std::size_t k = 0; k < groups.size(); ++k) {
    if (k % at_a_time == 0) {
      out.push_back(groups[k]);
    } else {
      out.back().q += groups[k].q;
      out.back().total += groups[k].total;
    }
  }
  return out;
}

// Standard errors of D_i - D_j.
Matrix<double> error_of_differences(const OutputSums& sums) {
  std::vector<Group> differences;
  for (const auto& [number, s] : sums.stretches) {
    if (s.total <= 0) continue;
    const Vector<double> D = s.product.diagonal();
    differences.push_back({D.replicate(1, D.size()) - D.transpose().replicate(D.size(), 1), s.total});
  }
  return variance_of_mean(differences).cwiseSqrt();
}

// Quantile of chi^2_n / n (Wilson, Hilferty 1931); z: that of a normal variable.
double mean_square_quantile(double n, double z) {
  return std::pow(std::max(0.0, 1 - 2 / (9 * n) + z * std::sqrt(2 / (9 * n))), 3);
}

}  // namespace

Matrix<double> expect_crosstalk(const OutputSums& sums, const EstimatingEquation& equation,
                                const Matrix<double>& kappa, double least_amplitude, Diagnosis& diagnosis) {
  const Index d = sums.second.size();
  Vector<double> gy = Vector<double>::Zero(d);
  for (const auto& [number, stretch] : sums.stretches) gy += stretch.product.diagonal() / sums.total;
  const Coefficients c =
      equation.kind == Kind::weighted
          ? fobi_coefficients(gy, kappa)
          : contrast_coefficients(sums.slope / sums.total, gy, equation.kind == Kind::squared_contrast);

  std::vector<Group> groups;
  for (const auto& [number, s] : sums.stretches) {
    if (s.total <= 0) continue;
    const Matrix<double> product = equation.kind == Kind::weighted
                                       ? Matrix<double>(s.product.selfadjointView<Eigen::Lower>())
                                       : s.product;
    groups.push_back({c.own.cwiseProduct(product) + c.other.cwiseProduct(product.transpose()) +
                          c.square.cwiseProduct(Matrix<double>(s.square.selfadjointView<Eigen::Lower>())),
                      s.total});
  }
  constexpr std::size_t least_groups = 32;
  constexpr double least_frames = 8;
  if (groups.size() < least_groups || sums.total < least_frames * static_cast<double>(groups.size())) {
    diagnosis.no_crosstalk = "too few frames";
    return {};
  }
  const auto powers = [&](const Matrix<double>& variance, const Matrix<double>& curvature) {
    Matrix<double> v = variance.array() / curvature.array().square();
    v = v.unaryExpr([&](double x) {
      return std::isfinite(x) ? std::clamp(x, least_amplitude * least_amplitude, 1.0) : 1.0;
    });
    v.diagonal().setZero();
    return v;
  };
  const Matrix<double> variance = variance_of_mean(groups);
  Matrix<double> v = powers(variance, c.curvature);
  // If neighbouring stretches are alike, the more are put together the larger the variance comes out. With
  // much of that, they are too few to tell.
  const auto pooled_to = [&](std::size_t left) {
    return powers(variance_of_mean(pooled(groups, groups.size() / left)), c.curvature);
  };
  const Matrix<double> of_8 = pooled_to(8);
  const Matrix<double> of_16 = pooled_to(16);
  constexpr double alike = 3;
  if (of_8.sum() > alike * v.sum()) {
    diagnosis.no_crosstalk = "the frames depend on each other over too much of the recording";
    return {};
  }
  const double grown = std::max(1.0, of_16.sum() / v.sum());
  // Where it halves for a pair whenever two stretches are put together, they make up for each other, as those
  // of periodic signals do: what is left of a sum is at its ends, and goes on falling. That may also be
  // chance, so nothing better is promised; but there is no reason to warn.
  const Matrix<double> of_32 = pooled_to(32);
  Matrix<double> factor = Matrix<double>::Constant(d, d, grown);
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < d; ++i) {
      const double at_8 = of_8(i, j) / v(i, j);
      if (of_32(i, j) < 0.65 * v(i, j) && of_16(i, j) < 0.4 * v(i, j) && at_8 < 0.25) {
        factor(i, j) = std::pow(at_8, 1.5);
      }
    }
  }
  const Matrix<double> unpooled = v;
  v = (v * grown).cwiseMin(1);
  double sum = 0;
  double squares = 0;
  for (Index j = 0; j < d; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double pair = v(i, j) + v(j, i);  // as good as one number
      sum += pair;
      squares += pair * pair;
    }
  }
  const double mean = sum / static_cast<double>(d);
  const double n = squares > 0 ? sum * sum / squares : 1;
  diagnosis.crosstalk = {std::min(1.0, mean * mean_square_quantile(n, 0)),
                         std::min(1.0, mean * mean_square_quantile(n, 1.645)), v.cwiseSqrt()};
  if (equation.kind != Kind::weighted) return unpooled.cwiseProduct(factor).cwiseMin(1).cwiseSqrt();
  const Matrix<double> error = error_of_differences(sums).cwiseProduct(factor.cwiseMin(1).cwiseSqrt());
  const Matrix<double> less = (c.curvature.cwiseAbs() - error).cwiseMax(0);
  return powers(variance, less).cwiseProduct(factor).cwiseMin(1).cwiseSqrt();
}

}  // namespace demix
