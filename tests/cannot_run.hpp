#pragma once

#include <gtest/gtest.h>

#include <cstdlib>

/// Leaves a test for which something is missing. In CI everything must be there.
#define DEMIX_CANNOT_RUN(why)                                                                        \
  do {                                                                                               \
    if (std::getenv("CI") != nullptr) GTEST_FAIL() << "in CI a test that cannot run fails: " << why; \
    GTEST_SKIP() << why;                                                                             \
  } while (false)
