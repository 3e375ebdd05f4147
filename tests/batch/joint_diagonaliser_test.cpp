#include "batch/joint_diagonaliser.hpp"

#include <cmath>
#include <numbers>

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

Matrix<double> in_rows(const std::vector<Matrix<double>>& set) {
  const Index d = set[0].rows();
  Matrix<double> A(static_cast<Index>(set.size()), d * (d + 1) / 2);
  for (Index m = 0; m < A.rows(); ++m) {
    for (Index q = 0; q < d; ++q) {
      for (Index p = 0; p <= q; ++p) A(m, pair_index(p, q)) = set[static_cast<std::size_t>(m)](p, q);
    }
  }
  return A;
}

double off(const std::vector<Matrix<double>>& set, const Matrix<double>& V) {
  double sum = 0;
  for (const Matrix<double>& A : set) {
    Matrix<double> B = V.transpose() * A * V;
    B.diagonal().setZero();
    sum += B.squaredNorm();
  }
  return sum;
}

std::vector<Matrix<double>> random_set(Index d, Index size, Random& random) {
  std::vector<Matrix<double>> set;
  for (Index m = 0; m < size; ++m) {
    const Matrix<double> B = random.normal(d, d);
    set.emplace_back(B + B.transpose());
  }
  return set;
}

TEST(JointDiagonaliser, FindsTheRotationOfMatricesThatHaveOne) {
  for (const Index d : {1, 2, 3, 8, 25}) {
    Random random(static_cast<std::uint64_t>(d));
    const Matrix<double> R = random.orthogonal(d);
    std::vector<Matrix<double>> set;
    for (int m = 0; m < 7; ++m) set.emplace_back(R * random.normal(d, 1).asDiagonal() * R.transpose());
    const JointDiagonalisation found = joint_diagonalise(in_rows(set), 100, 1e-12);
    EXPECT_EQ(found.turning, 0) << d;
    EXPECT_LE(found.sweeps, 12) << d;
    EXPECT_TRUE((found.V.transpose() * found.V).isIdentity(1e-12)) << d;
    EXPECT_LT(off(set, found.V), 1e-20 * static_cast<double>(d * d)) << d;
    const Matrix<double> P = (R.transpose() * found.V).cwiseAbs();  // a permutation
    EXPECT_LT((P.colwise().maxCoeff().array() - 1).abs().maxCoeff(), 1e-10) << d;
    EXPECT_LT((P.rowwise().maxCoeff().array() - 1).abs().maxCoeff(), 1e-10) << d;
  }
}

TEST(JointDiagonaliser, InThePlaneNoAngleIsBetter) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    const std::vector<Matrix<double>> set = random_set(2, 1 + static_cast<Index>(seed) % 4, random);
    const double found = off(set, joint_diagonalise(in_rows(set), 100, 1e-12).V);
    double best = 1e300;
    for (int step = 0; step < 20000; ++step) {
      const double angle = std::numbers::pi / 2 * step / 20000;
      Matrix<double> V(2, 2);
      V << std::cos(angle), -std::sin(angle), std::sin(angle), std::cos(angle);
      best = std::min(best, off(set, V));
    }
    EXPECT_LE(found, best * (1 + 1e-12) + 1e-20) << seed;
    EXPECT_GE(found, best - 1e-5) << seed;  // so coarse are the steps
  }
}

// Of matrices with nothing in common: where it comes to rest no small rotation is better.
TEST(JointDiagonaliser, ComesToRestAtAnOptimum) {
  Random random(3);
  const std::vector<Matrix<double>> set = random_set(6, 10, random);
  const JointDiagonalisation found = joint_diagonalise(in_rows(set), 1000, 1e-10);
  EXPECT_EQ(found.turning, 0);
  const double rest = off(set, found.V);
  EXPECT_LT(rest, off(set, Matrix<double>::Identity(6, 6)));
  for (Index q = 1; q < 6; ++q) {
    for (Index p = 0; p < q; ++p) {
      for (const double angle : {-1e-3, 1e-3, -0.5, 0.5}) {
        Matrix<double> R = Matrix<double>::Identity(6, 6);
        R(p, p) = R(q, q) = std::cos(angle);
        R(q, p) = -(R(p, q) = std::sin(angle));
        EXPECT_GT(off(set, found.V * R), rest);
      }
    }
  }
}

TEST(JointDiagonaliser, SaysWhatStillTurns) {
  Random random(4);
  const std::vector<Matrix<double>> set = random_set(6, 10, random);
  const JointDiagonalisation found = joint_diagonalise(in_rows(set), 1, 1e-10);
  EXPECT_EQ(found.sweeps, 1);
  EXPECT_EQ(found.turning, 15);
  EXPECT_TRUE((found.V.transpose() * found.V).isIdentity(1e-12));
}

}  // namespace
}  // namespace demix
