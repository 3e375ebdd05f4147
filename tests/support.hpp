#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "demix/types.hpp"

namespace demix::testing {

template <typename T>
class Scalar : public ::testing::Test {};
using Scalars = ::testing::Types<float, double>;

inline double median(std::vector<double> v) {
  std::sort(v.begin(), v.end());
  return v[v.size() / 2];
}

inline double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
inline double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

}  // namespace demix::testing
