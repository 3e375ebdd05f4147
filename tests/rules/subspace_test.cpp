// The rules that separate nothing, doing what they are for. Oja's rule and PSP find the principal subspace;
// BCM finds skewed features, several neurons the same one.
#include <cmath>
#include <cstdio>
#include <set>

#include "demix/linear_algebra.hpp"
#include "demix/metrics.hpp"
#include "demix/random.hpp"
#include "demix/rules/bcm.hpp"
#include "demix/rules/oja_subspace.hpp"
#include "demix/rules/orica.hpp"
#include "demix/rules/principal_subspace.hpp"
#include "demix/rules/reconstruction.hpp"
#include "support.hpp"

namespace demix {
namespace {

RuleOptions with(double eta, std::uint64_t seed) {
  RuleOptions o;
  o.eta = eta;
  o.seed = seed;
  return o;
}

// The largest angle between the spans of the rows of F and of the columns of U (orthonormal).
double largest_angle(const Matrix<double>& F, const Matrix<double>& U) {
  const Matrix<double> Q = F.transpose() * inverse_sqrt(symmetric_eigen(F * F.transpose()));  // orthonormal
  const Matrix<double> outside = Q - U * (U.transpose() * Q);
  return std::asin(std::min(1.0, singular_values(outside)(0)));
}

struct Found {
  std::vector<double> angle;  // to the principal subspace
  std::vector<double> gram;   // ||F F^T - I||, F the rule's unmixing matrix
};

// 8 channels, 3 outputs, 30000 Gaussian frames whose covariance has the eigenvalues 4, 3, 2, .3, .25, .2 ...
template <typename R>
Found find_subspace() {
  Found found;
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    Random random(seed);
    const Matrix<double> U = random.orthogonal(8);
    const Vector<double> eigenvalues{{4, 3, 2, 0.3, 0.25, 0.2, 0.15, 0.1}};
    const Matrix<double> A = U * eigenvalues.cwiseSqrt().asDiagonal();
    R rule(8, 3, with(1e-3, seed));
    EXPECT_GT(largest_angle(rule.unmixing(), U.leftCols(3)), 0.5) << "it starts there";
    Vector<double> x(8), s(8), y(3);
    for (int t = 0; t < 30000; ++t) {
      for (Index i = 0; i < 8; ++i) s(i) = random.normal();
      x.noalias() = A * s;
      rule.respond(x, y);
      rule.learn(x, y);
    }
    const Matrix<double> F = rule.unmixing();
    found.angle.push_back(largest_angle(F, U.leftCols(3)));
    found.gram.push_back((F * F.transpose() - Matrix<double>::Identity(3, 3)).norm());
  }
  return found;
}

void expect_subspace(const char* name, const Found& found) {
  std::printf(
      "[  FIGURE  ] %s, 10 runs: largest principal angle %.3f, median %.3f (bar .1); F F^T = I within %.4f\n",
      name, testing::largest(found.angle), testing::median(found.angle), testing::largest(found.gram));
  EXPECT_LT(testing::largest(found.angle), 0.1);
  EXPECT_LT(testing::largest(found.gram), 0.01);
}

// Its response is a projection whatever the length of the rows of W, so F F^T need not be I: the span is all.
TEST(Subspace, ReconstructionFindsIt) {
  const Found found = find_subspace<rules::Reconstruction>();
  EXPECT_LT(testing::largest(found.angle), 0.1);
}

TEST(Subspace, OjaFindsIt) { expect_subspace("oja-subspace", find_subspace<rules::OjaSubspace>()); }

// At rest W = E[y x^T] = F C and M = E[y y^T] = F C F^T with F = M^-1 W, so F C F^T F = F C, which leaves
// F F^T = I, as for Oja's rule.
TEST(Subspace, PspFindsIt) { expect_subspace("psp", find_subspace<rules::PrincipalSubspace>()); }

TEST(Subspace, PspRestsWhereItsWeightsAreCovariances) {
  Random random(3);
  const Vector<double> eigenvalues{{4, 3, 2, 0.3, 0.2}};
  const Matrix<double> A = random.orthogonal(5) * eigenvalues.cwiseSqrt().asDiagonal();
  const Matrix<double> C = A * A.transpose();
  rules::PrincipalSubspace rule(5, 3, with(3e-4, 3));
  Vector<double> y(3);
  for (int t = 0; t < 60000; ++t) {
    const Vector<double> x = A * random.normal(5, 1);
    rule.respond(x, y);
    rule.learn(x, y);
  }
  const Matrix<double> F = rule.unmixing();
  EXPECT_LT((rule.W - F * C).norm(), 0.1 * rule.W.norm());
  EXPECT_LT((rule.M - F * C * F.transpose()).norm(), 0.1 * rule.M.norm());
}

// Four exponential sources, turned: white, skewed. What each neuron responds to is a row of P = W A.
TEST(Bcm, FindsSkewedFeaturesSeveralTimesOver) {
  constexpr Index d = 4;
  constexpr int runs = 40;
  constexpr Index frames = 20000;
  int complete = 0;
  int redundant = 0;
  int silent = 0;
  std::vector<double> correlation, orica_index;
  for (std::uint64_t seed = 1; seed <= runs; ++seed) {
    Random random(seed);
    const Matrix<double> A = random.orthogonal(d);
    rules::Bcm bcm(d, d, with(rules::Bcm::forms[0].eta, 100 + seed));
    rules::Orica orica(d, d, with(rules::Orica::forms[0].eta, 100 + seed));
    const Matrix<double> start = bcm.W * A;
    Vector<double> s(d), x(d), y(d);
    for (Index t = 0; t < frames; ++t) {
      for (Index i = 0; i < d; ++i) s(i) = -portable_log(1 - random.uniform()) - 1;
      x.noalias() = A * s;
      bcm.respond(x, y);
      bcm.learn(x, y);
      orica.respond(x, y);
      orica.learn(x, y);
    }
    const Matrix<double> P = bcm.W * A;
    std::set<Index> sources;
    Index awake = 0;
    for (Index i = 0; i < d; ++i) {
      Index source = 0;
      const double share = P.row(i).cwiseAbs().maxCoeff(&source) / P.row(i).norm();
      if (P.row(i).norm() < 0.1) {  // others come to about 2, the skewness
        EXPECT_LT(start.row(i).maxCoeff(), 0.1) << "a neuron with something to find";
        ++silent;
        continue;
      }
      ++awake;
      sources.insert(source);
      correlation.push_back(share);
      EXPECT_GT(P(i, source), 0);  // never the wrong way round
    }
    const auto distinct = static_cast<Index>(sources.size());
    complete += distinct == d;
    redundant += distinct < awake;
    orica_index.push_back(amari_index(orica.unmixing() * A));
  }
  std::printf(
      "[  FIGURE  ] bcm, 4 skewed sources, %d runs: several neurons share a source in %d, all four sources "
      "found in "
      "%d; correlation with the nearest source at least %.3f (bar .9), %d of %d neurons silent; orica on the "
      "same "
      "frames: Amari index at most %.3f (bar .1)\n",
      runs, redundant, complete, testing::smallest(correlation), silent, runs * static_cast<int>(d),
      testing::largest(orica_index));
  EXPECT_GT(testing::smallest(correlation), 0.9);
  EXPECT_GT(redundant, runs / 2);
  EXPECT_LT(complete, runs / 4);
  EXPECT_LT(testing::largest(orica_index), 0.1);
}

}  // namespace
}  // namespace demix
