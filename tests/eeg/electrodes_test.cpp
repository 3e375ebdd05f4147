#include "demix/electrodes.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace demix::eeg {
namespace {

double distance(const Position& a, const Position& b) {
  return std::hypot(a[0] - b[0], a[1] - b[1], a[2] - b[2]);
}
Position at(const char* name) { return standard_position(name).value(); }

TEST(Electrodes, LieOnTheSphereWhereTheSystemPutsThem) {
  for (const std::string& name : standard_names()) {
    const Position p = at(name.c_str());
    EXPECT_NEAR(std::hypot(p[0], p[1], p[2]), head_radius, 1e-12) << name;
  }
  EXPECT_NEAR(at("Cz")[2], head_radius, 1e-12);
  EXPECT_NEAR(at("T8")[0], head_radius * std::sin(92 * M_PI / 180), 1e-12);
  EXPECT_NEAR(at("Fpz")[1], -at("Oz")[1], 1e-12);
  EXPECT_GT(at("Fp1")[1], at("AF3")[1]);
  EXPECT_LT(at("Fp1")[0], 0);
  EXPECT_GT(at("O2")[0], 0);
  EXPECT_LT(at("TP9")[2], at("TP7")[2]);
}

TEST(Electrodes, LeftAndRightMirrorEachOther) {
  int pairs = 0;
  for (const std::string& name : standard_names()) {
    const std::size_t digit = name.find_first_of("13579");
    if (digit == std::string::npos) continue;
    if (std::stoi(name.substr(digit)) % 2 == 0) continue;  // 10
    const int number = std::stoi(name.substr(digit)) + 1;
    const std::string other =
        name.substr(0, digit) + std::to_string(number) + (name.back() == 'h' ? "h" : "");
    const Position p = at(name.c_str());
    const auto q = standard_position(other);
    ASSERT_TRUE(q) << other;
    EXPECT_LT(distance(p, {-(*q)[0], (*q)[1], (*q)[2]}), 1e-12) << name;
    EXPECT_LT(p[0], 0) << name;
    ++pairs;
  }
  EXPECT_EQ(pairs, 160);
}

TEST(Electrodes, RowsAreDividedEvenly) {
  for (const char* row : {"F", "C", "P", "PO", "AF"}) {
    const std::string r = row;
    const double whole = distance(at((r + "z").c_str()), at((r + "1").c_str()));
    EXPECT_NEAR(distance(at((r + "1").c_str()), at((r + "3").c_str())), whole, 1e-12) << row;
    EXPECT_NEAR(distance(at((r + "3").c_str()), at((r + "5").c_str())), whole, 1e-12) << row;
  }
}

TEST(Electrodes, NamesAreReadAsTheyAreWritten) {
  for (const char* name : {"Fp1", "FP1", "fp1", "EEG Fp1", "EEG FP1-REF", "Fp1.", "Fp1-A2", "Fp1 "}) {
    const auto p = standard_position(name);
    ASSERT_TRUE(p) << name;
    EXPECT_LT(distance(*p, at("Fp1")), 1e-12) << name;
  }
  EXPECT_LT(distance(at("T3"), at("T7")), 1e-12);
  EXPECT_LT(distance(at("T6"), at("P8")), 1e-12);
  for (const char* name : {"", "EOG1", "Fp1-F7", "E12", "Status", "C7x", "ECG"}) {
    EXPECT_FALSE(standard_position(name)) << name;
  }
}

TEST(Electrodes, StandardPositionsFillInOnlyWhereNothingIsKnown) {
  const std::vector<std::string> names = {"Cz", "Pz", "EOG"};
  const Positions all = with_standard({}, names);
  ASSERT_EQ(all.size(), 3U);
  EXPECT_TRUE(all[0] && all[1] && !all[2]);
  const Positions some = with_standard({std::nullopt, Position{0, 0, 0.1}, std::nullopt}, names);
  EXPECT_TRUE(!some[0] && some[1] && !some[2]);
}

// A head whose middle is not the origin, as digitised ones are.
TEST(Electrodes, DirectionsAreFromTheCentreOfTheHead) {
  Positions moved;
  std::vector<std::string> used;
  for (const std::string& name : standard_names()) {
    const Position p = at(name.c_str());
    if (p[2] < -0.01) continue;
    moved.push_back(Position{p[0] + 0.003, p[1] - 0.01, p[2] + 0.04});
    used.push_back(name);
  }
  const Directions d = directions_of(moved);
  ASSERT_EQ(d.unit.cols(), std::ssize(used));
  for (Index k = 0; k < d.unit.cols(); ++k) {
    const Position p = at(used[static_cast<std::size_t>(k)].c_str());
    EXPECT_NEAR(d.unit(0, k), p[0] / head_radius, 1e-9);
    EXPECT_NEAR(d.unit(2, k), p[2] / head_radius, 1e-9);
  }
}

TEST(Electrodes, WhatIsNoPlaceIsLeftOut) {
  const Directions d =
      directions_of({Position{0, 0, 0}, Position{NAN, 0, 1}, std::nullopt, Position{0, 2, 0}});
  ASSERT_EQ(d.channels, std::vector<Index>{3});
  EXPECT_EQ(d.unit(1, 0), 1);
}

}  // namespace
}  // namespace demix::eeg
