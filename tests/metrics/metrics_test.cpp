#include "demix/metrics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "demix/assignment.hpp"
#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

double total(const Matrix<double>& cost, const std::vector<Index>& p) {
  double sum = 0;
  for (Index i = 0; i < cost.rows(); ++i) sum += cost(i, p[static_cast<std::size_t>(i)]);
  return sum;
}

template <typename F>
void for_all_permutations(Index d, F&& f) {
  std::vector<Index> p(static_cast<std::size_t>(d));
  std::iota(p.begin(), p.end(), Index{0});
  do f(p);
  while (std::next_permutation(p.begin(), p.end()));
}

TEST(Assignment, IsAsGoodAsTheBestPermutation) {
  Random random(1);
  for (Index d = 1; d <= 6; ++d) {
    for (int k = 0; k < 50; ++k) {
      Matrix<double> cost = random.normal(d, d);
      if (k % 2 == 0) cost = cost.array().round();  // ties
      double best = std::numeric_limits<double>::infinity();
      for_all_permutations(d, [&](const auto& p) { best = std::min(best, total(cost, p)); });
      const std::vector<Index> found = assign(cost);
      EXPECT_NEAR(total(cost, found), best, 1e-12);
      std::vector<Index> sorted = found;
      std::sort(sorted.begin(), sorted.end());
      for (Index i = 0; i < d; ++i) EXPECT_EQ(sorted[static_cast<std::size_t>(i)], i);
    }
  }
}

TEST(Assignment, FindsAHiddenPermutationOfAnySize) {
  for (const Index d : {1, 40, 200}) {  // none a multiple of 7, so i -> 7 i + 3 is a permutation
    Matrix<double> cost = Matrix<double>::Ones(d, d);
    for (Index i = 0; i < d; ++i) cost(i, (i * 7 + 3) % d) = 0;
    EXPECT_EQ(total(cost, assign(cost)), 0);
  }
  EXPECT_THROW(assign(Matrix<double>::Zero(2, 3)), std::invalid_argument);
}

TYPED_TEST(Scalar, MseIsTheBestOverSignsAndPermutations) {
  Random random(2);
  const Index d = 4;
  const Matrix<TypeParam> S = random.normal(d, 300).cast<TypeParam>();
  const Matrix<TypeParam> Y = (S + random.normal(d, 300).cast<TypeParam>());
  double best = std::numeric_limits<double>::infinity();
  for_all_permutations(d, [&](const auto& p) {
    for (int signs = 0; signs < 16; ++signs) {
      double sum = 0;
      for (Index i = 0; i < d; ++i) {
        const TypeParam sign = (signs >> i) & 1 ? -1 : 1;
        sum += (S.row(i) - sign * Y.row(p[static_cast<std::size_t>(i)])).squaredNorm();
      }
      best = std::min(best, sum / (300.0 * d));
    }
  });
  RunningMse running(d);
  EXPECT_TRUE(std::isnan(running.mse()));
  running.add(S.leftCols(100), Y.leftCols(100));
  running.add(S.rightCols(200), Y.rightCols(200));
  EXPECT_NEAR(running.mse(), best, 1e-5);
}

TEST(Metrics, MseOverTimeFollowsTheFrames) {
  const Matrix<double> S = Random(3).normal(2, 100);
  Matrix<double> Y = S;
  Y.leftCols(50).setZero();
  RunningMse running(2);
  running.add(S.leftCols(50), Y.leftCols(50));
  const double early = running.mse();
  running.add(S.rightCols(50), Y.rightCols(50));
  EXPECT_NEAR(early, S.leftCols(50).squaredNorm() / 100, 1e-12);
  EXPECT_NEAR(running.mse(), S.leftCols(50).squaredNorm() / 200, 1e-12);
}

TEST(Metrics, MatchingIsFound) {
  const Matrix<double> S = Random(4).normal(3, 500);
  Matrix<double> Y(3, 500);
  Y.row(0) = -S.row(2);
  Y.row(1) = S.row(0);
  Y.row(2) = S.row(1);
  RunningMse running(3);
  running.add(S, Y);
  EXPECT_NEAR(running.mse(), 0, 1e-14);
  EXPECT_EQ(running.matching().output, (std::vector<Index>{1, 2, 0}));
  EXPECT_EQ(running.matching().sign, (std::vector<int>{1, 1, -1}));
}

TEST(Metrics, IndicesAreZeroExactlyForScaledPermutations) {
  Random random(5);
  for (const Index d : {2, 3, 7}) {
    Matrix<double> P = Matrix<double>::Zero(d, d);
    for (Index i = 0; i < d; ++i) P(i, (i + 1) % d) = random.normal();
    EXPECT_NEAR(amari_index(P), 0, 1e-15);
    EXPECT_NEAR(md_index(P), 0, 1e-7);
    const Matrix<double> Q = random.normal(d, d);
    EXPECT_GT(amari_index(Q), 0.01);
    EXPECT_LE(amari_index(Q), 1);
    EXPECT_GT(md_index(Q), 0.01);
    EXPECT_LE(md_index(Q), 1 + 1e-12);
    // Rows may be scaled, permuted and negated at will.
    Matrix<double> R = Q;
    R.row(0) = -3 * Q.row(1);
    R.row(1) = 0.5 * Q.row(0);
    EXPECT_NEAR(md_index(R), md_index(Q), 1e-12);
  }
  EXPECT_NEAR(amari_index(Matrix<double>::Ones(4, 4)), 1, 1e-15);
}

TEST(Metrics, MdIsTheSmallestDistanceOverScaledPermutations) {
  const Matrix<double> P = Random(6).normal(4, 4);
  double best = std::numeric_limits<double>::infinity();
  for_all_permutations(4, [&](const auto& p) {
    double sum = 0;
    for (Index i = 0; i < 4; ++i) {
      const auto row = P.row(p[static_cast<std::size_t>(i)]);
      const double c = row(i) / row.squaredNorm();  // least squares
      sum += (c * row - Matrix<double>::Identity(4, 4).row(i)).squaredNorm();
    }
    best = std::min(best, std::sqrt(sum / 3));
  });
  EXPECT_NEAR(md_index(P), best, 1e-12);
}

TEST(Metrics, GainErrorIsTheErrorOfManySamples) {
  Random random(7);
  const Matrix<double> P = Matrix<double>::Identity(3, 3) + 0.1 * random.normal(3, 3);
  const Matrix<double> S = random.normal(3, 200000);
  EXPECT_NEAR(mse_of_gain(P), mse(S, P * S), 0.02 * mse_of_gain(P));
}

TEST(Metrics, BssEvalOfAKnownMixture) {
  const Index T = 100000;
  Random random(8);
  Matrix<double> S = random.normal(2, T);
  Vector<double> noise = random.normal(T, 1);
  // exactly orthogonal, so that the decibels are exact
  S.row(1) -= S.row(0).dot(S.row(1)) / S.row(0).squaredNorm() * S.row(0);
  for (Index i = 0; i < 2; ++i) noise -= S.row(i).dot(noise) / S.row(i).squaredNorm() * S.row(i).transpose();
  S.row(0) *= std::sqrt(T) / S.row(0).norm();
  S.row(1) *= std::sqrt(T) / S.row(1).norm();
  noise *= std::sqrt(T) / noise.norm();
  Matrix<double> Y(2, T);
  Y.row(0) = -2 * (S.row(1) + 0.1 * S.row(0) + 0.01 * noise.transpose());
  Y.row(1) = S.row(0);
  const BssEval e = bss_eval(S, Y);
  EXPECT_EQ(e.matching.output, (std::vector<Index>{1, 0}));
  EXPECT_EQ(e.matching.sign, (std::vector<int>{1, -1}));
  EXPECT_NEAR(e.sir(1), 20, 1e-6);
  EXPECT_NEAR(e.sar(1), 10 * std::log10(1.01 / 1e-4), 1e-6);
  EXPECT_NEAR(e.sdr(1), 10 * std::log10(1 / (0.01 + 1e-4)), 1e-6);
  EXPECT_GT(e.sdr(0), 150);
}

TEST(Metrics, ShapesMustAgree) {
  EXPECT_THROW(mse(Matrix<double>::Zero(2, 5), Matrix<double>::Zero(2, 6)), std::invalid_argument);
  EXPECT_THROW(amari_index(Matrix<double>::Zero(2, 3)), std::invalid_argument);
  const Matrix<double> Z = standardized(3 * Random(1).normal(2, 50).array() + 4);
  EXPECT_NEAR(Z.row(1).mean(), 0, 1e-14);
  EXPECT_NEAR(Z.row(1).squaredNorm() / 50, 1, 1e-14);
}

}  // namespace
}  // namespace demix
