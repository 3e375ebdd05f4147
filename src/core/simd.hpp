#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

/// Which of the generations of processors that kernels are compiled for (core/simd-inl.hpp) is in use.
namespace demix::simd {

/// Generations this machine can run, the best first: among "avx512", "avx2", "sse4", "neon", "portable".
std::vector<std::string> available();

/// For tests and benchmarks: from now on use this one. Throws std::invalid_argument if it is not available.
void use(std::string_view name);

/// Index into Highway's tables of functions; 0 until one was chosen.
extern std::atomic<std::size_t> chosen;
std::size_t choose();
inline std::size_t index() {
  const std::size_t now = chosen.load(std::memory_order_relaxed);
  return now != 0 ? now : choose();
}

// The function for doubles or that for floats.
template <typename T, typename Double, typename Float>
auto one_of(Double of_doubles, Float of_floats) {
  if constexpr (std::is_same_v<T, double>) {
    return of_doubles;
  } else {
    return of_floats;
  }
}

}  // namespace demix::simd

/// The function of this name (see HWY_EXPORT) for the generation in use.
#define DEMIX_DISPATCH(NAME) \
  (*HWY_DISPATCH_TABLE(NAME)[HWY_TARGETS == HWY_STATIC_TARGET ? 0 : demix::simd::index()])
