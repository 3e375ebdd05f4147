#include "demix/model.hpp"

#include "core/warnings.hpp"
#include "demix/linear_algebra.hpp"
#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

using testing::Scalar;
using testing::Scalars;
TYPED_TEST_SUITE(Scalar, Scalars);

Model random_model(Index n) {
  Random random(4);
  Model m;
  m.mean = 10 * random.normal(n, 1);
  m.mixing = random.normal(n, n);
  m.unmixing = inverse(m.mixing);
  m.kurtosis = Vector<double>::LinSpaced(n, 9, 1);
  return m;
}

TYPED_TEST(Scalar, ApplyAndInvertUndoEachOther) {
  const Model m = random_model(4);
  const Matrix<TypeParam> X = Random(1).normal(4, 1300).cast<TypeParam>();
  const Matrix<TypeParam> Y = m.apply(X);
  const Matrix<double> expected = m.unmixing * (X.template cast<double>().colwise() - m.mean);
  const double eps = std::numeric_limits<TypeParam>::epsilon();
  EXPECT_TRUE(Y.template cast<double>().isApprox(expected, 4 * eps));
  EXPECT_TRUE(m.invert(Y).isApprox(X, TypeParam(100 * eps)));
}

TYPED_TEST(Scalar, RemovingComponentsLeavesTheOthers) {
  const Model m = random_model(4);
  const Matrix<TypeParam> X = Random(1).normal(4, 700).cast<TypeParam>();
  const auto eps = std::numeric_limits<TypeParam>::epsilon();
  const Matrix<TypeParam> cleaned = m.remove(X, {2, 0, 2});
  Matrix<TypeParam> Y = m.apply(X);
  Y.row(0).setZero();
  Y.row(2).setZero();
  EXPECT_TRUE(cleaned.isApprox(m.invert(Y), 100 * eps));
  EXPECT_TRUE(m.remove(X, {}).isApprox(X, 10 * eps));
  EXPECT_THROW(m.remove(X, {4}), std::invalid_argument);
}

TEST(Model, WhatTheModelDoesNotDescribeIsKept) {
  Model m;  // one component of three channels
  m.mean = Vector<double>::Zero(3);
  m.mixing = (Vector<double>(3) << 1, 2, 2).finished();
  m.unmixing = m.mixing.transpose() / 9;
  m.kurtosis = Vector<double>::Ones(1);
  Matrix<double> X(3, 2);
  X << 1, 2, 2, -1, 2, 0;  // the first frame is the component, the second is orthogonal to it
  const Matrix<double> cleaned = m.remove(X, {0});
  EXPECT_NEAR(cleaned.col(0).norm(), 0, 1e-14);
  EXPECT_TRUE(cleaned.col(1).isApprox(X.col(1)));
}

TEST(Model, OrderAndSignFollowTheRule) {
  Model m = random_model(3);
  m.kurtosis << 1, 7, 3;
  const Model before = m;
  put_in_order(m, Vector<double>::Ones(3));
  EXPECT_EQ(m.kurtosis(0), 7);
  EXPECT_EQ(m.kurtosis(2), 1);
  for (Index k = 0; k < 3; ++k) {
    Index strongest = 0;
    m.mixing.col(k).cwiseAbs().maxCoeff(&strongest);
    EXPECT_GT(m.mixing(strongest, k), 0);
  }
  EXPECT_TRUE((m.unmixing * m.mixing).isIdentity(1e-12));
  EXPECT_TRUE(m.mixing.col(0).cwiseAbs().isApprox(before.mixing.col(1).cwiseAbs()));
}

TEST(Model, ValidationNamesWhatIsWrong) {
  Model m = random_model(3);
  EXPECT_NO_THROW(m.validate());
  m.mixing(1, 1) += 1e-3;
  EXPECT_THROW(m.validate(), std::invalid_argument);
  m = random_model(3);
  m.kurtosis.resize(2);
  EXPECT_THROW(m.validate(), std::invalid_argument);
  EXPECT_THROW(Model().validate(), std::invalid_argument);
  EXPECT_THROW(random_model(3).apply(Matrix<double>::Zero(2, 2)), std::invalid_argument);
}

TEST(Warnings, ListsReadWell) {
  EXPECT_EQ(list_of({0}), "1");
  EXPECT_EQ(list_of({0, 1}), "1 and 2");
  EXPECT_EQ(list_of({0, 1, 4, 5, 6, 9}), "1, 2, 5 to 7 and 10");
}

TEST(Warnings, FramesAreCountedFromOneAndNotAllListed) {
  EXPECT_EQ(some_of({77, 1577}), "78, 1578");
  std::vector<std::int64_t> many(12);
  for (std::size_t k = 0; k < many.size(); ++k) many[k] = static_cast<std::int64_t>(k);
  EXPECT_EQ(some_of(many), "1, 2, 3, 4, 5, 6, 7, 8, 9, 10 and 2 more");
}

TEST(Warnings, PairsThatHangTogetherAreOne) {
  Model m = random_model(8);
  m.samples = 2500;
  warn_of_unresolved(m, {{1, 2}, {6, 7}, {3, 4}, {2, 3}});
  ASSERT_EQ(m.warnings.size(), 2U);
  EXPECT_EQ(m.warnings[0].components, (std::vector<Index>{1, 2, 3, 4}));
  EXPECT_EQ(m.warnings[1].text,
            "components 7 and 8 are too alike to tell apart with 2500 frames; they may still be mixed with "
            "each other: record longer");
  m.warnings.clear();
  m.kurtosis.setConstant(3);
  warn_of_unresolved(m, {{0, 1}});
  ASSERT_EQ(m.warnings.size(), 1U);
  EXPECT_EQ(m.warnings[0].kind, Warning::Kind::gaussian);
}

}  // namespace
}  // namespace demix
