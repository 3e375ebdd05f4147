#include "demix/random.hpp"

#include <cmath>

#include "support.hpp"

namespace demix {
namespace {

TEST(Random, ElementaryFunctionsAreAccurate) {
  Random random(1);
  for (int k = 0; k < 100000; ++k) {
    const double u = random.uniform();
    EXPECT_NEAR(portable_log(u + 1e-300), std::log(u + 1e-300), 4e-16 * (1 + std::abs(std::log(u + 1e-300))));
    const double t = random.uniform(-3, 3);
    EXPECT_NEAR(portable_sin2pi(t), std::sin(2 * M_PI * t), 4e-15);
  }
  EXPECT_EQ(portable_log(1), 0);
  EXPECT_EQ(portable_sin2pi(0.5), 0);
  EXPECT_EQ(portable_sin2pi(-7), 0);
  EXPECT_NEAR(portable_sin2pi(0.25), 1, 3e-16);
}

// Bits, not approximations: these must come out on every machine.
TEST(Random, TheSameSeedGivesTheSameNumbersEverywhere) {
  Random random(42);
  EXPECT_EQ(random.bits(), 0xd0764d4f4476689fU);
  EXPECT_EQ(random.uniform(), 0x1.467905d15dbccp-2);
  EXPECT_EQ(random.normal(), -0x1.bca4f7dbd8ae3p-1);
  EXPECT_EQ(random.laplace(), 0x1.402954e69a63dp-1);
}

TEST(Random, Distributions) {
  Random random(7);
  const int n = 400000;
  double normal2 = 0;
  double normal4 = 0;
  double laplace2 = 0;
  double laplace4 = 0;
  for (int k = 0; k < n; ++k) {
    const double g = random.normal();
    const double l = random.laplace();
    normal2 += g * g / n;
    normal4 += g * g * g * g / n;
    laplace2 += l * l / n;
    laplace4 += l * l * l * l / n;
  }
  EXPECT_NEAR(normal2, 1, 0.01);
  EXPECT_NEAR(normal4, 3, 0.06);
  EXPECT_NEAR(laplace2, 1, 0.02);
  EXPECT_NEAR(laplace4, 6, 0.4);
}

TEST(Random, OrthogonalIsOrthogonal) {
  for (const Index n : {1, 2, 5, 32}) EXPECT_TRUE(Random(3).orthogonal(n).isUnitary(1e-13));
}

TEST(Random, BelowStaysBelow) {
  Random random(1);
  std::vector<int> seen(5, 0);
  for (int k = 0; k < 1000; ++k) ++seen.at(static_cast<std::size_t>(random.below(5)));
  for (const int count : seen) EXPECT_GT(count, 100);
}

}  // namespace
}  // namespace demix
