#pragma once

#include <gtest/gtest.h>

#include <string>

#include "core/simd.hpp"

namespace demix::testing {

/// Runs a test with the kernels of each generation of processors that this machine can run.
class EachGeneration : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { simd::use(GetParam()); }
  void TearDown() override { simd::use(simd::available().front()); }
};
inline auto generations() { return ::testing::ValuesIn(simd::available()); }
inline std::string generation_name(const ::testing::TestParamInfo<std::string>& info) { return info.param; }

}  // namespace demix::testing
