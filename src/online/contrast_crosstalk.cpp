#include "online/contrast_crosstalk.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <utility>
#include <vector>

#include "online/newton_step.hpp"
#include "online/output_kurtosis.hpp"

namespace demix {
namespace {

constexpr Index least_frames = 32;  // of two stretches

// Means over every second frame of a stretch, from `first` on.
struct Half {
  Matrix<double> S, T, D;
  /// As curvature() of the outputs' own, with the signs k.
  double curvature(const Vector<double>& k, Index i, Index j) const {
    return k(i) * (D(i, j) - T(i, i)) + k(j) * (D(j, i) - T(j, j));
  }
  Half(const Matrix<double>& Y, Index begin, Index end, Index first) {
    const Index frames = (end - begin - first + 1) / 2;
    const Matrix<double> y = Y(Eigen::all, Eigen::seqN(begin + first, frames, Eigen::fix<2>));
    S = y * y.transpose() / static_cast<double>(frames);
    const Matrix<double> t = y.array().tanh();
    T = t * y.transpose() / static_cast<double>(frames);
    D = (1 - t.array().square()).matrix() * y.cwiseAbs2().transpose() / static_cast<double>(frames);
  }
};

// Rows whose kurtosis is hardly that of a Gaussian, by its size or by chance.
std::vector<bool> nearly_gaussian(const Matrix<double>& Y) {
  const double most = std::max(0.5, 8 * std::sqrt(24 / static_cast<double>(Y.cols())));
  std::vector<bool> out;
  for (Index i = 0; i < Y.rows(); ++i)
    out.push_back(std::abs(kurtosis_of(Y.row(i).transpose().array(), 1).value - 3) <= most);
  return out;
}

// Standard error of the curvature of a pair, if frames are independent.
double chance_of(const Matrix<double>& Y, const Matrix<double>& t, const Vector<double>& k, Index i,
                 Index j) {
  const auto share = [&](Index a, Index b) {
    const Eigen::ArrayXd y = Y.row(a).transpose().array();
    const Eigen::ArrayXd of = t.row(a).transpose().array();
    return Eigen::ArrayXd(k(a) * ((1 - of.square()) * Y.row(b).transpose().array().square() - of * y));
  };
  const Eigen::ArrayXd curvature = share(i, j) + share(j, i);
  return std::sqrt((curvature - curvature.mean()).square().mean() / static_cast<double>(Y.cols()));
}

}  // namespace

Matrix<double> contrast_crosstalk(const Matrix<double>& Y, double learned) {
  constexpr Index most_stretches = 32;
  constexpr double largest = std::numbers::sqrt2 / 2;
  constexpr double of_gaussians = 4.5;  // standard errors
  const Index r = Y.rows();
  const Index frames = Y.cols();
  const auto all = static_cast<double>(frames);
  Matrix<double> out = Matrix<double>::Constant(r, r, largest);
  out.diagonal().setZero();
  const Index stretches = std::min(most_stretches, frames / (least_frames / 2));
  if (stretches < 2 || !Y.allFinite()) return out;

  const Matrix<double> t = Y.array().tanh();
  const Matrix<double> s = 1 - t.array().square();
  Expectations e(r);
  e.S = Y * Y.transpose() / all;
  e.T = t * Y.transpose() / all;
  e.D = s * Y.cwiseAbs2().transpose() / all;
  e.s = s.rowwise().mean();
  NewtonStep step(r);
  step.signs(e, r);

  Matrix<double> together = Matrix<double>::Zero(r, r);  // sum over stretches of E' E'', the halves' steps
  Matrix<double> apart = together;                       // of ((E' - E'') / 2)^2
  Matrix<double> unlike = together;                      // of squared differences of the curvature
  for (Index b = 0; b < stretches; ++b) {
    const Index begin = b * frames / stretches;
    const Index end = (b + 1) * frames / stretches;
    const std::array<Half, 2> halves{Half(Y, begin, end, 0), Half(Y, begin, end, 1)};
    std::array<Matrix<double>, 2> E;
    for (std::size_t h = 0; h < 2; ++h) {
      E[h] = Matrix<double>::Zero(r, r);
      for (Index j = 0; j < r; ++j) {
        for (Index i = 0; i < j; ++i) {
          const double c = step.curvature(e, i, j);
          const double off = e.S(i, j) - halves[h].S(i, j);
          const double gradient =
              step.k(i) * (halves[h].T(i, j) - e.T(i, j)) - step.k(j) * (halves[h].T(j, i) - e.T(j, i));
          const double turn = -step.rest(e, i, j, gradient, off) / c;
          E[h](i, j) = off / 2 + turn;
          E[h](j, i) = off / 2 - turn;
        }
      }
    }
    together += E[0].cwiseProduct(E[1]);
    apart += (E[0] - E[1]).cwiseAbs2() / 4;
    for (Index j = 0; j < r; ++j) {
      for (Index i = 0; i < r; ++i) {
        const double own = (halves[0].curvature(step.k, i, j) + halves[1].curvature(step.k, i, j)) / 2;
        unlike(i, j) += std::pow(own - step.curvature(e, i, j), 2);
      }
    }
  }
  const double n = static_cast<double>(stretches);
  const std::vector<bool> gaussian = nearly_gaussian(Y);
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double c = step.curvature(e, i, j);
      double chance = std::sqrt(unlike(i, j) / (n * (n - 1)));
      // The contrast of two Gaussians has its maximum where chance makes the curvature largest.
      if (gaussian[static_cast<std::size_t>(i)] && gaussian[static_cast<std::size_t>(j)])
        chance = of_gaussians * std::max(chance, chance_of(Y, t, step.k, i, j));
      if (!(c > chance)) continue;
      for (const auto& [a, b] : {std::pair{i, j}, {j, i}}) {
        const double variance =
            (std::max(0.0, together(a, b)) + apart(a, b) * std::min(1.0, all / learned)) / (n * (n - 1));
        if (variance < largest * largest) out(a, b) = std::sqrt(variance);
      }
    }
  }
  return out;
}

std::optional<double> expected_error(const Matrix<double>& crosstalk, Index frames) {
  const double error = crosstalk.squaredNorm() / static_cast<double>(std::max<Index>(1, crosstalk.rows()));
  if (crosstalk.rows() < 2 || frames < least_frames || !std::isfinite(error)) return std::nullopt;
  return std::min(1.0, error);
}

}  // namespace demix
