#pragma once

#include <utility>

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
                                " components; at least " + std::to_string(10 * d * d) + " are advised",
                            {}});
}

inline void warn_of_close_kurtosis(Model& model, Index i, Index j) {
  model.warnings.push_back({Warning::Kind::close_kurtosis,
                            "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1) +
                                ": kurtoses too close to tell apart with " + std::to_string(model.samples) +
                                " frames; they may still be mixed with each other",
                            {i, j}});
}

}  // namespace demix
