#include "report/tics.hpp"

#include <gtest/gtest.h>

namespace demix::report {
namespace {

constexpr double font = 15;

// The numbers, in order.
std::string numbers(const Axis& axis) {
  const std::string text = tics_of(axis, font).text;
  std::string out;
  for (std::size_t from = 0; (from = text.find('\'', from)) != std::string::npos;) {
    const std::size_t to = text.find('\'', ++from);
    if (to > from) out += (out.empty() ? "" : " ") + text.substr(from, to - from);
    from = to + 1;
  }
  return out;
}

TEST(Tics, AreRoundNumbers) {
  EXPECT_EQ(numbers({{0, 1}, false, 300, true}), "0 0.2 0.4 0.6 0.8 1.0");
  EXPECT_EQ(numbers({{-2.3, 2.3}, false, 300, false}), "-2 -1 0 1 2");
  EXPECT_EQ(numbers({{0.98, 1.03}, false, 300, false}), "0.98 0.99 1.00 1.01 1.02 1.03");
}

TEST(Tics, AreFewOnAShortAxis) {
  EXPECT_EQ(numbers({{0, 1}, false, 100, true}), "0 0.5 1.0");
  EXPECT_EQ(numbers({{0, 50000}, false, 200, true}), "0 20000 40000");
}

TEST(Tics, LargeAndSmallNumbersHaveAPower) {
  EXPECT_EQ(numbers({{0, 3e6}, false, 300, false}), "0 1·10^{6} 2·10^{6} 3·10^{6}");
  EXPECT_EQ(numbers({{0, 2e-7}, false, 80, false}), "0 1·10^{-7} 2·10^{-7}");
}

TEST(Tics, ArePowersOfTenOnALogAxis) {
  EXPECT_EQ(numbers({{1e-3, 1}, true, 300, true}), "10^{-3} 10^{-2} 10^{-1} 10^{0}");
  EXPECT_EQ(numbers({{1e-9, 1e6}, true, 300, true}), "10^{-9} 10^{-6} 10^{-3} 10^{0} 10^{3} 10^{6}");
}

TEST(Tics, ASharpLookAtLessThanADecade) {
  EXPECT_EQ(numbers({{0.018, 0.052}, true, 300, false}), "0.02 0.03 0.05");
  EXPECT_EQ(numbers({{0.4, 7}, true, 300, false}), "0.5 1 2 5");
}

TEST(Tics, DoNotTouch) {
  EXPECT_EQ(numbers({{2e-5, 1.2e-4}, true, 130, false}), "2·10^{-5} 5·10^{-5} 0.0001");
}

TEST(Tics, KnowTheirWidth) {
  EXPECT_EQ(tics_of({{0, 1}, false, 300, true}, font).width, gnuplot::width_of("0.2", font));
  EXPECT_EQ(tics_of({{1e-3, 1}, true, 300, true}, font).width, gnuplot::width_of("10-3", font));
}

}  // namespace
}  // namespace demix::report
