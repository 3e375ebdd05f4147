#include "demix/crosstalk.hpp"

#include <cmath>

#include "demix/random.hpp"
#include "support.hpp"

namespace demix {
namespace {

// Its definition, frame by frame: the standard deviation of the mean of y_i y_j (w - D_i - 2 k_ij)/(D_i -
// D_j).
Matrix<double> by_definition(const Matrix<double>& Y, Weight weight, double samples) {
  const Index d = Y.rows();
  const auto n = static_cast<double>(Y.cols());
  Vector<double> D = Vector<double>::Zero(d);
  Matrix<double> k = Matrix<double>::Zero(d, d);
  for (Index t = 0; t < Y.cols(); ++t) {
    const double a = Y.col(t).squaredNorm();
    for (Index i = 0; i < d; ++i) {
      D(i) += weight_value(weight, a) * Y(i, t) * Y(i, t) / n;
      for (Index j = 0; j < d; ++j)
        k(i, j) += weight_derivative(weight, a) * std::pow(Y(i, t) * Y(j, t), 2) / n;
    }
  }
  Matrix<double> out = Matrix<double>::Zero(d, d);
  for (Index i = 0; i < d; ++i) {
    for (Index j = 0; j < d; ++j) {
      if (i == j) continue;
      double square = 0;
      for (Index t = 0; t < Y.cols(); ++t) {
        const double w = weight_value(weight, Y.col(t).squaredNorm());
        square += std::pow(Y(i, t) * Y(j, t) * (w - D(i) - 2 * k(i, j)) / (D(i) - D(j)), 2) / n;
      }
      out(i, j) = std::sqrt(square / samples);
    }
  }
  return out;
}

TEST(Crosstalk, IsThatOfItsDefinition) {
  Random random(1);
  for (const Index d : {2, 3, 5}) {
    Matrix<double> Y = random.normal(d, 700);
    for (Index i = 0; i < d; ++i) Y.row(i) = Y.row(i).array().pow(1 + 2 * (i % 2)) * (1 + 0.3 * double(i));
    for (const std::string_view name : weight_names()) {
      const Weight weight = weight_named(name);
      const Matrix<double> told = fobi_crosstalk(Y, weight);
      EXPECT_TRUE(told.isApprox(by_definition(Y, weight, 700), 1e-9)) << d << " " << name;
      EXPECT_EQ(told.diagonal().norm(), 0);
      EXPECT_TRUE(fobi_crosstalk(Y, weight, 70000).isApprox(told / 10, 1e-12)) << d << " " << name;
    }
  }
}

}  // namespace
}  // namespace demix
