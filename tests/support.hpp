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

inline double quantile(std::vector<double> v, double p) {
  std::sort(v.begin(), v.end());
  return v[static_cast<std::size_t>(p * static_cast<double>(v.size() - 1))];
}

inline double largest(const std::vector<double>& v) { return *std::max_element(v.begin(), v.end()); }
inline double smallest(const std::vector<double>& v) { return *std::min_element(v.begin(), v.end()); }

}  // namespace demix::testing
