#include "distributed/core_share.hpp"

#include <gtest/gtest.h>

/// How the cores of a host are divided among the ranks on it.
namespace demix {
namespace {

std::vector<Index> shares(const std::vector<std::string>& allowed) {
  std::vector<Index> out;
  for (std::size_t rank = 0; rank < allowed.size(); ++rank) out.push_back(core_share(allowed, rank));
  return out;
}

TEST(CoreShare, RanksDoNotTakeTheSameCores) {
  using List = std::vector<Index>;
  EXPECT_EQ(shares({"11111111"}), List({8}));
  EXPECT_EQ(shares({"1111", "1111"}), List({2, 2}));
  EXPECT_EQ(shares({"1111", "1111", "1111"}), List({1, 1, 1}));
  EXPECT_EQ(shares({"111", "111", "111"}), List({1, 1, 1}));
  EXPECT_EQ(shares({"11", "11", "11", "11"}), List({1, 1, 1, 1}));
  EXPECT_EQ(shares({"1100", "0011"}), List({2, 2}));
  EXPECT_EQ(shares({"11110000", "11110000", "00001111"}), List({2, 2, 4}));  // two sockets
  EXPECT_EQ(shares({"1000", "1111"}), List({1, 3}));
}

}  // namespace
}  // namespace demix
