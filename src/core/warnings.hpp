#pragma once

#include <string>
#include <utility>
#include <vector>

#include "demix/model.hpp"

/// What every separator has to say about its model, in the same words.
namespace demix {

/// `more` says which channels, where that is known.
inline void warn_of_rank(Model& model, Index rank, const std::string& more = {}) {
  if (rank == model.channels()) return;
  model.warnings.push_back({Warning::Kind::reduced_rank,
                            std::to_string(model.channels()) + " channels hold only " + std::to_string(rank) +
                                " independent signals" + more,
                            {}});
}

inline void warn_of_few_samples(Model& model) {
  const Index d = model.components();
  if (model.samples >= 10 * d * d) return;
  model.warnings.push_back({Warning::Kind::few_samples,
                            std::to_string(model.samples) + " frames are few for " + std::to_string(d) +
                                " components; at least " + std::to_string(10 * d * d) +
                                " are advised: keep fewer, or record longer",
                            {}});
}

/// Whether the kurtosis of a component is no further from 3 than chance brings it.
bool nearly_gaussian(const Model& model, Index component);

/// Pairs of components that may still be mixed with each other: one warning for those that hang together. Of
/// Gaussian sources nothing is left to find but their subspace: any rotation of them is as good.
void warn_of_unresolved(Model& model, const std::vector<std::pair<Index, Index>>& pairs);

/// Counted from 1: "1, 2 and 5 to 9". `numbers` are increasing, from 0.
std::string list_of(const std::vector<Index>& numbers);

/// How many frames a warning lists.
inline constexpr std::size_t listed_frames = 10;
/// Counted from 1: "78, 1578 and 6 more".
std::string some_of(const std::vector<std::int64_t>& frames);

}  // namespace demix
