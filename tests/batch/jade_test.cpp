#include "demix/jade.hpp"

#include <cmath>
#include <set>

#include "batch/batch_support.hpp"
#include "batch/closed_form.hpp"
#include "batch/cumulants.hpp"
#include "batch/joint_diagonaliser.hpp"
#include "demix/fobi.hpp"
#include "demix/metrics.hpp"
#include "simd_support.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

const std::vector<Source> six{Source::laplace, Source::laplace, Source::uniform,
                              Source::uniform, Source::sine,    Source::square};

JadeOptions with_neighbours(Index k) {
  JadeOptions options;
  options.neighbours = k;
  return options;
}

double amari(const Mixture& m, const Model& model) { return amari_index(model.unmixing * m.mixing); }

// Both in one pass are those of passes of their own.
TEST(Jade, WithFobiOfTheSameMoments) {
  for (const bool weighted : {false, true}) {
    Random random(41);
    const Mixture m = mix(make_sources(six, 20000, Timing::iid, random), random.normal(6, 6));
    const MatrixRecording<double> all(m.mixtures);
    Vector<double> weights(m.mixtures.cols());
    for (double& w : weights) w = random.uniform(0, 2);
    const WeightedRecording some(all, weights);
    const WhiteRecording white = whiten(weighted ? static_cast<const Recording&>(some) : all);
    const FobiAndJade both = fobi_and_jade(white);
    const auto same = [](const Matrix<double>& W, const Matrix<double>& V) {  // but for order and signs
      return (W * V.transpose()).cwiseAbs().rowwise().maxCoeff().minCoeff();
    };
    EXPECT_GT(same(both.fobi.W, fobi(white).W), 1 - 1e-12);
    EXPECT_GT(same(both.jade.W, jade(white).W), 1 - 1e-12);
  }
}

using Cumulants = testing::EachGeneration;
INSTANTIATE_TEST_SUITE_P(Simd, Cumulants, testing::generations(), testing::generation_name);

TEST_P(Cumulants, AreThoseOfTheDefinition) {
  for (const Index d : {1, 2, 3, 4, 5, 6, 20}) {
    Random random(static_cast<std::uint64_t>(d));
    const Index T = 1500;
    const Matrix<double> X = random.normal(3, T).array().cube();
    const Matrix<double> P = random.normal(d, 3);
    const Vector<double> mean = random.normal(3, 1);
    const Matrix<double> Y = P * (X.colwise() - mean);
    for (const Index neighbours : std::set<Index>{1, std::min<Index>(2, d), d}) {  // one by one, or in order
      const Matrix<double> C =
          sum_over(MatrixRecording<double>(X), CumulantRequest(mean, P, neighbours)).cumulants();
      Index row = 0;
      for (Index j = 0; j < d; ++j) {
        for (Index i = std::max<Index>(0, j - neighbours + 1); i <= j; ++i, ++row) {
          Matrix<double> expected = (Y.array().rowwise() * (Y.row(i).array() * Y.row(j).array())).matrix() *
                                    Y.transpose() / static_cast<double>(T);
          if (i == j) expected.diagonal().array() -= 1;
          expected(i, j) -= 1;
          expected(j, i) -= 1;
          if (i != j) expected *= std::sqrt(2.0);
          for (Index l = 0; l < d; ++l) {
            for (Index k = 0; k <= l; ++k) {
              EXPECT_NEAR(C(row, pair_index(k, l)), expected(k, l), 1e-11 * expected.norm());
            }
          }
        }
      }
      EXPECT_EQ(row, C.rows());
    }
  }
}

// Where FOBI has nothing to go by.
TEST(Jade, SeparatesSourcesOfOneKind) {
  for (const Source kind : {Source::laplace, Source::uniform}) {
    const Mixture m = mixture(std::vector<Source>(8, kind), 100000, 1);
    EXPECT_GT(amari(m, fobi(m.mixtures)), 0.1);
    for (const Index k : {0, 2}) {
      const Model model = jade(m.mixtures, with_neighbours(k));
      EXPECT_LT(amari(m, model), 0.01) << k;
      EXPECT_TRUE(model.warnings.empty()) << k;
      EXPECT_EQ(model.method, "jade");
      EXPECT_EQ(model.options.contains("neighbours"), k > 0);
      EXPECT_LE(model.convergence.iterations, 12) << k;
    }
  }
}

TYPED_TEST(Scalar, JadeSeparatesSubAndSuperGaussians) {
  const Mixture m = mixture(six, 50000, 2);
  const Matrix<TypeParam> X = m.mixtures.cast<TypeParam>();
  const Model model = jade(X);
  const Matrix<double> Y = model.apply(X).template cast<double>();
  EXPECT_LT(mse(m.sources, Y), 1e-3);
  EXPECT_LT(amari(m, model), 0.015);
  EXPECT_TRUE((Y * Y.transpose() / 50000).isIdentity(1e-5));
  EXPECT_NO_THROW(model.validate());
  EXPECT_TRUE(model.warnings.empty());
}

TEST(Jade, FloatsAndDoublesGiveTheSame) {
  const Matrix<float> X = mixture(six, 20000, 3).mixtures.cast<float>();
  const Matrix<double> same = X.cast<double>();
  EXPECT_TRUE(jade(X).unmixing.isApprox(jade(same).unmixing, 1e-12));
}

TEST(Jade, AllNeighboursAreJade) {
  const Mixture m = mixture(six, 20000, 4);
  const Model all = jade(m.mixtures);
  for (const Index k : {6, 60}) {
    EXPECT_TRUE(jade(m.mixtures, with_neighbours(k)).unmixing.isApprox(all.unmixing, 1e-12));
  }
  EXPECT_FALSE(jade(m.mixtures, with_neighbours(1)).unmixing.isApprox(all.unmixing, 1e-6));
}

// x -> B x changes nothing but signs: outputs belong to the sources, not to the sensors.
TEST(Jade, OutputsDoNotDependOnMixingScaleOrderOrSign) {
  const Mixture m = mixture(six, 20000, 5);
  Random random(9);
  Vector<double> scale(6);
  scale << 1e-6, -3, 1e5, 0.1, 1, -1;
  const Matrix<double> permutation = Matrix<double>::Identity(6, 6).rowwise().reverse();
  for (const Index neighbours : {0, 2}) {
    const Matrix<double> Y = jade(m.mixtures, with_neighbours(neighbours)).apply(m.mixtures);
    for (const Matrix<double>& B : {Matrix<double>(scale.asDiagonal()), permutation, random.normal(6, 6),
                                    conditioned_mixing(6, 1e4, random)}) {
      const Matrix<double> X = (B * m.mixtures).array() + 7;
      const Matrix<double> Z = jade(X, with_neighbours(neighbours)).apply(X);
      for (Index k = 0; k < 6; ++k) {
        const double sign = Y.row(k).dot(Z.row(k)) < 0 ? -1 : 1;
        EXPECT_TRUE(Y.row(k).isApprox(sign * Z.row(k), 1e-6));
      }
    }
  }
}

TEST(Jade, HowTheFramesComeDoesNotMatter) {
  const Mixture m = mixture(six, 30000, 6);
  const Model model = jade(m.mixtures);
  EXPECT_EQ(jade(m.mixtures).unmixing, model.unmixing);  // however the threads took turns
  const MatrixRecording<double> source(m.mixtures);
  const MappedRecording same(source, 6, [](const Frames<double>& X) { return Matrix<double>(X); });
  EXPECT_EQ(jade(same).unmixing, model.unmixing);
  EXPECT_TRUE(jade(m.mixtures.rowwise().reverse()).unmixing.isApprox(model.unmixing, 1e-6));
  Matrix<double> wide = Matrix<double>::Ones(40, 30000);  // of more channels fewer frames at a time
  wide.topRows(6) = m.mixtures;
  EXPECT_TRUE(jade(wide).unmixing.leftCols(6).isApprox(model.unmixing, 1e-6));
}

TYPED_TEST(Scalar, JadeOfDependentChannelsGivesFewerComponents) {
  const Mixture m = mixture({Source::laplace, Source::laplace, Source::uniform}, 30000, 7);
  Matrix<double> X(6, 30000);
  X.topRows(3) = m.mixtures;
  X.row(3).setConstant(4);
  X.row(4) = m.mixtures.row(0);
  X.row(5) = m.mixtures.row(1) - 2 * m.mixtures.row(2);
  const Matrix<TypeParam> Xt = X.cast<TypeParam>();
  for (const Index k : {0, 2}) {
    const Model model = jade(Xt, with_neighbours(k));
    EXPECT_EQ(model.components(), 3);
    EXPECT_EQ(count(model, Warning::Kind::reduced_rank), 1);
    EXPECT_LT(mse(m.sources, model.apply(Xt).template cast<double>()), 2e-3);
  }
}

TEST(Jade, SaysThatGaussiansCannotBeToldApart) {
  Mixture m = mixture({Source::laplace, Source::uniform, Source::laplace, Source::laplace}, 30000, 8);
  Random random(8);
  m.sources.bottomRows(2) = random.normal(2, 30000);
  const Model model = jade(Matrix<double>(m.mixing * m.sources));
  EXPECT_EQ(count(model, Warning::Kind::gaussian), 1);
  // The others are found all the same.
  const Matrix<double> P = (model.unmixing * m.mixing).cwiseAbs();
  for (Index source = 0; source < 2; ++source) EXPECT_GT(P.col(source).maxCoeff(), 0.99);
}

TEST(Jade, SaysThatItHasNotConverged) {
  JadeOptions options;
  options.max_sweeps = 1;
  const Model model = jade(mixture(six, 5000, 9).mixtures, options);
  EXPECT_EQ(count(model, Warning::Kind::not_converged), 1);
  EXPECT_EQ(model.convergence.iterations, 1);
  EXPECT_NO_THROW(model.validate());
}

TEST(Jade, MisuseIsNamed) {
  const auto refusal = [](const Matrix<double>& X, const JadeOptions& options) -> std::string {
    try {
      jade(X, options);
    } catch (const std::invalid_argument& e) {
      return e.what();
    }
    return "";
  };
  const Matrix<double> X = Matrix<double>::Random(2, 50);
  JadeOptions options;
  options.tolerance = 0;
  EXPECT_TRUE(refusal(X, options).starts_with("tolerance"));
  options = {};
  options.max_sweeps = 0;
  EXPECT_TRUE(refusal(X, options).starts_with("max_sweeps"));
  EXPECT_TRUE(refusal(X, with_neighbours(-1)).starts_with("neighbours"));
  EXPECT_TRUE(refusal(Matrix<double>::Random(5, 4), {}).starts_with("X: 4 frames of 5"));
  const Matrix<double> many = Matrix<double>::Random(129, 300);
  EXPECT_NE(refusal(many, {}).find("129 components are too many for jade"), std::string::npos);
  EXPECT_NE(refusal(many, {}).find("fastica"), std::string::npos);
  // Of any number of channels
  EXPECT_EQ(jade(many, with_neighbours(1), {.whitening = {.components = 3}}).components(), 3);
  EXPECT_EQ(refusal(Matrix<double>::Random(1, 60), {}), "X: one channel: nothing to separate");
}

}  // namespace
}  // namespace demix
