#include "demix/lambda.hpp"
#include "demix/weight.hpp"
#include "support.hpp"

namespace demix {
namespace {

TEST(Lambda, TheThreeReadingsOfTheTable) {
  const std::vector<double> table{1.0, 1.5, 6.07};
  EXPECT_DOUBLE_EQ(lambda2_from_table(table, LambdaReading::inverse_square)(1), 1 / 1.5);
  EXPECT_DOUBLE_EQ(lambda2_from_table(table, LambdaReading::direct)(1), 2.25);
  EXPECT_DOUBLE_EQ(lambda2_from_table(table, LambdaReading::inverse)(1), 1 / 2.25);
  EXPECT_THROW(lambda2_from_table({1, 0}, LambdaReading::direct), std::invalid_argument);
  EXPECT_EQ(lambda_reading_named("inverse"), LambdaReading::inverse);
  EXPECT_THROW(lambda_reading_named("other"), std::invalid_argument);
}

TEST(Lambda, TheDefaultIsDistinctAndAscending) {
  for (const Index d : {1, 2, 4, 32}) {
    const Vector<double> l = default_lambda2(d);
    for (Index i = 1; i < d; ++i) EXPECT_GT(l(i), l(i - 1));
    EXPECT_GT(l(0), 0);
  }
}

TEST(Weight, DerivativesAgreeWithDifferences) {
  for (const std::string_view name : weight_names()) {
    const Weight w = weight_named(name);
    EXPECT_EQ(weight_name(w), name);
    for (const double a : {0.1, 1.0, 7.0, 100.0}) {
      const double h = 1e-5 * a;
      const double slope = (weight_value(w, a + h) - weight_value(w, a - h)) / (2 * h);
      EXPECT_NEAR(weight_derivative(w, a), slope, 1e-6 * std::abs(slope) + 1e-9) << name;
    }
  }
  EXPECT_THROW(weight_named("cubic"), std::invalid_argument);
}

}  // namespace
}  // namespace demix
