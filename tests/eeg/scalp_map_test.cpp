#include "demix/scalp_map.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace demix::eeg {
namespace {

Matrix<double> cap() {
  Positions all;
  for (const char* name : {"Fp1", "Fp2", "F7", "F3", "Fz", "F4", "F8", "T7", "C3", "Cz", "C4", "T8", "P7",
                           "P3", "Pz", "P4", "P8", "O1", "O2"}) {
    all.push_back(standard_position(name));
  }
  return directions_of(all).unit;
}

TEST(ScalpMap, AConstantStaysConstant) {
  const Matrix<double> from = cap();
  Matrix<double> to = Matrix<double>::Random(3, 40);
  to.colwise().normalize();
  const Matrix<double> W = spline_weights(from, to);
  EXPECT_LT(((W * Vector<double>::Ones(from.cols())).array() - 1).abs().maxCoeff(), 1e-9);
}

// What a dipole in the middle of the head makes is smooth: cosine.
TEST(ScalpMap, ASmoothFieldIsFoundBetweenElectrodes) {
  const Matrix<double> from = cap();
  const Eigen::Vector3d dipole = Eigen::Vector3d(0.3, 0.5, 0.8).normalized();
  const Vector<double> values = from.transpose() * dipole;
  const Matrix<double> to = directions_of({standard_position("FC1"), standard_position("CP2"),
                                           standard_position("C1"), standard_position("PO4")})
                                .unit;
  const Vector<double> found = spline_weights(from, to) * values;
  EXPECT_LT((found - to.transpose() * dipole).cwiseAbs().maxCoeff(), 0.02);
}

TEST(ScalpMap, TheGridHasTheNoseAboveAndTheLeftAtTheLeft) {
  Positions positions;
  std::vector<double> front, right;
  for (const std::string& name : standard_names()) {
    const Position p = *standard_position(name);
    if (p[2] < 0.01) continue;
    positions.push_back(p);
    front.push_back(p[1]);
    right.push_back(p[0]);
  }
  Matrix<double> values(std::ssize(positions), 2);
  values.col(0) = Eigen::Map<Vector<double>>(front.data(), std::ssize(front));
  values.col(1) = Eigen::Map<Vector<double>>(right.data(), std::ssize(right));
  const ScalpMaps maps = scalp_maps(positions, values, 20);
  ASSERT_EQ(maps.grids.size(), 2U);
  EXPECT_GT(maps.grids[0](3, 10), 0.03);
  EXPECT_LT(maps.grids[0](16, 10), -0.03);
  EXPECT_GT(maps.grids[1](10, 16), 0.03);
  EXPECT_LT(maps.grids[1](10, 3), -0.03);
}

TEST(ScalpMap, ElectrodesAreDrawnWhereOneLooksForThem) {
  const auto at = [](const char* name) {
    const Position p = *standard_position(name);
    return drawn_at(p[0] / head_radius, p[1] / head_radius, p[2] / head_radius);
  };
  EXPECT_NEAR(at("Fpz")[1], 1, 1e-12);
  EXPECT_NEAR(at("T8")[0], 1, 1e-12);
  EXPECT_NEAR(at("Cz")[0], 0, 1e-12);
  EXPECT_NEAR(at("Fz")[1], 0.5, 1e-12);
}

TEST(ScalpMap, ThreeElectrodesAreNoMap) {
  const Positions three = {standard_position("Cz"), standard_position("Fz"), standard_position("Pz"),
                           std::nullopt};
  EXPECT_EQ(scalp_maps(three, Matrix<double>::Ones(4, 2)).size, 0);
  EXPECT_THROW(scalp_maps(three, Matrix<double>::Ones(3, 2)), std::invalid_argument);
}

}  // namespace
}  // namespace demix::eeg
