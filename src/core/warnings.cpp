#include "core/warnings.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace demix {
namespace {

// Components joined by pairs, directly or through others.
std::vector<std::vector<Index>> groups_of(const std::vector<std::pair<Index, Index>>& pairs,
                                          Index components) {
  std::vector<Index> group(static_cast<std::size_t>(components));
  std::iota(group.begin(), group.end(), Index{0});
  for (const auto& [i, j] : pairs) {
    const Index a = group.at(static_cast<std::size_t>(i));
    const Index b = group.at(static_cast<std::size_t>(j));
    std::replace(group.begin(), group.end(), std::max(a, b), std::min(a, b));
  }
  std::vector<std::vector<Index>> members(group.size());
  for (Index k = 0; k < components; ++k) {
    members[static_cast<std::size_t>(group[static_cast<std::size_t>(k)])].push_back(k);
  }
  std::erase_if(members, [](const auto& m) { return m.size() < 2; });
  return members;
}

}  // namespace

bool nearly_gaussian(const Model& model, Index component) {
  const double error = std::sqrt(24 / static_cast<double>(model.samples));
  return std::abs(model.kurtosis(component) - 3) <= 4 * error;
}

void warn_of_unresolved(Model& model, const std::vector<std::pair<Index, Index>>& pairs) {
  for (const std::vector<Index>& group : groups_of(pairs, model.components())) {
    const bool gaussian = std::ranges::all_of(group, [&](Index i) { return nearly_gaussian(model, i); });
    const std::string who = "components " + list_of(group);
    if (gaussian) {
      model.warnings.push_back({Warning::Kind::gaussian,
                                who + " are as good as Gaussian: nothing tells them apart; they may still be "
                                      "mixed with each other, so "
                                      "use all of them or none",
                                group});
    } else {
      model.warnings.push_back({Warning::Kind::unresolved,
                                who + " are too alike to tell apart with " + std::to_string(model.samples) +
                                    " frames; they may still be mixed with each other: record longer",
                                group});
    }
  }
}

std::string list_of(const std::vector<Index>& numbers) {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t j = i;
    while (j + 1 < numbers.size() && numbers[j + 1] == numbers[j] + 1) ++j;
    if (j < i + 2) j = i;  // two in a row are not worth a "to"
    parts.push_back(j == i ? std::to_string(numbers[i] + 1)
                           : std::to_string(numbers[i] + 1) + " to " + std::to_string(numbers[j] + 1));
    i = j + 1;
  }
  std::string out;
  for (std::size_t p = 0; p < parts.size(); ++p) {
    out += (p == 0 ? "" : p + 1 < parts.size() ? ", " : " and ") + parts[p];
  }
  return out;
}

std::string some_of(const std::vector<std::int64_t>& frames) {
  std::string out;
  for (std::size_t k = 0; k < std::min(frames.size(), listed_frames); ++k)
    out += (k == 0 ? "" : ", ") + std::to_string(frames[k] + 1);
  if (frames.size() > listed_frames) out += " and " + std::to_string(frames.size() - listed_frames) + " more";
  return out;
}

}  // namespace demix
