#include "demix/objective.hpp"

#include "demix/fobi.hpp"
#include "demix/lambda.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/synthetic.hpp"
#include "support.hpp"

namespace demix {
namespace {

Matrix<double> centred(const Matrix<double>& X) { return X.colwise() - X.rowwise().mean(); }

TEST(Objective, GammaAgreesWithItsDefinition) {
  const Matrix<double> X = centred(make_scenario(4, 400, 1).mixtures);
  const double T = 400;
  const Matrix<double> C = X * X.transpose() / T;
  Matrix<double> expected = Matrix<double>::Zero(3, 3);
  for (Index t = 0; t < X.cols(); ++t) {
    expected += X.col(t).dot(inverse(C) * X.col(t)) * X.col(t) * X.col(t).transpose() / T;
  }
  EXPECT_TRUE(gamma_inverse(X).isApprox(expected, 1e-10));
}

// Against the T x T matrices of the paper.
TEST(Objective, SimilarityObjectiveAgreesWithBruteForce) {
  const Matrix<double> X = centred(make_scenario(2, 60, 2).mixtures);
  const Matrix<double> Y = Random(3).normal(3, 60);
  const Vector<double> lambda2 = default_lambda2(3);
  const Matrix<double> gamma_inv = gamma_inverse(X);
  const Matrix<double> G = X.transpose() * inverse(gamma_inv) * X;
  const Matrix<double> K = Y.transpose() * lambda2.asDiagonal() * Y;
  EXPECT_NEAR(similarity_objective(X, gamma_inv, Y, lambda2), (G - K).squaredNorm() / 3600, 1e-8);
}

TEST(Objective, MinMaxAgreesWithItsFormula) {
  const Matrix<double> X = centred(make_scenario(2, 50, 4).mixtures);
  Random random(5);
  const Matrix<double> W = random.normal(3, 3);
  const Matrix<double> B = random.normal(3, 3);
  const Matrix<double> M = B * B.transpose();
  const Matrix<double> Y = random.normal(3, 50);
  const Vector<double> lambda2 = default_lambda2(3);
  const Matrix<double> gamma_inv = gamma_inverse(X);
  const double expected = (-2 * X.transpose() * W.transpose() * Y + Y.transpose() * M * Y).trace() / 50 +
                          (W * gamma_inv * W.transpose() * lambda2.cwiseInverse().asDiagonal()).trace() -
                          M.trace();
  EXPECT_NEAR(min_max_objective(W, M, Y, X, gamma_inv, lambda2), expected, 1e-9);
}

// Theorem 1: among all white Y = Q h, FOBI's components in their order are the best there is.
TEST(Objective, TheSourcesAreTheMinimum) {
  const Matrix<double> X = centred(make_scenario(4, 5000, 6).mixtures);
  const Model model = fobi(X);
  const Matrix<double> Y = model.apply(X);
  const Vector<double> lambda2 = default_lambda2(3);  // ascending: descending kurtosis is the stable order
  const Matrix<double> gamma_inv = gamma_inverse(X);
  const double best = similarity_objective(X, gamma_inv, Y, lambda2);
  Random random(7);
  for (int k = 0; k < 200; ++k) {
    const Matrix<double> R = random.orthogonal(3);
    EXPECT_GE(similarity_objective(X, gamma_inv, R * Y, lambda2), best - 1e-10);
  }
  const Matrix<double> reversed = Y.colwise().reverse();
  EXPECT_GT(similarity_objective(X, gamma_inv, reversed, lambda2), best + 1e-3);
}

// With W and M at their optimum for a white Y, L is minus the part of the objective that depends on Y.
TEST(Objective, MinMaxAndSimilarityDifferByAConstant) {
  const Matrix<double> X = centred(make_scenario(4, 2000, 8).mixtures);
  const Matrix<double> H = fobi(X).apply(X);
  const Vector<double> lambda2 = default_lambda2(3);
  const Matrix<double> gamma_inv = gamma_inverse(X);
  Random random(9);
  const auto both = [&](const Matrix<double>& Y) {
    const Matrix<double> W = lambda2.asDiagonal() * Y * X.transpose() / 2000 * inverse(gamma_inv);
    const Matrix<double> M = Matrix<double>::Identity(3, 3);
    const double minmax = min_max_objective(W, M, Y, X, gamma_inv, lambda2);
    return similarity_objective(X, gamma_inv, Y, lambda2) - 2 * minmax;
  };
  const double constant = both(H);
  for (int k = 0; k < 10; ++k) EXPECT_NEAR(both(random.orthogonal(3) * H), constant, 1e-9);
}

}  // namespace
}  // namespace demix
