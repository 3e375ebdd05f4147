#include "core/simd.hpp"

#include <hwy/highway.h>

#include <algorithm>
#include <stdexcept>
#include <utility>

namespace demix::simd {
namespace {

struct Generation {
  std::int64_t target;
  std::string_view name;
};
constexpr Generation generations[] = {
    {HWY_AVX3_DL, "avx512"}, {HWY_AVX3, "avx512"}, {HWY_AVX2, "avx2"},       {HWY_SSE4, "sse4"},
    {HWY_SSSE3, "ssse3"},    {HWY_NEON, "neon"},   {HWY_EMU128, "portable"}, {HWY_SCALAR, "portable"},
};

std::vector<Generation> runnable() {
  std::vector<Generation> out;
  const std::int64_t here = hwy::SupportedTargets() & HWY_TARGETS;
  for (const Generation& g : generations) {
    if (here & g.target) out.push_back(g);
  }
  return out;
}

}  // namespace

std::atomic<std::size_t> chosen{0};

std::size_t choose() {
  hwy::ChosenTarget& target = hwy::GetChosenTarget();
  target.Update(hwy::SupportedTargets());
  chosen = target.GetIndex();
  return chosen;
}

std::vector<std::string> available() {
  std::vector<std::string> names;
  for (const Generation& g : runnable()) names.emplace_back(g.name);
  return names;
}

void use(std::string_view name) {
  for (const Generation& g : runnable()) {
    if (g.name != name) continue;
    hwy::ChosenTarget& target = hwy::GetChosenTarget();
    target.Update(g.target);
    chosen = target.GetIndex();
    return;
  }
  std::string all;
  for (const std::string& known : available()) all += (all.empty() ? "" : ", ") + known;
  throw std::invalid_argument("simd: expected one of " + all + ", got '" + std::string(name) + "'");
}

}  // namespace demix::simd
