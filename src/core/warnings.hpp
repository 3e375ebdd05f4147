#pragma once

#include <algorithm>
#include <cmath>
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

/// Of a Gaussian source nothing is left to find but its subspace: any rotation of two of them is as good.
inline void warn_of_gaussians(Model& model) {
  const double noise = 4 * std::sqrt(24 / static_cast<double>(model.samples));
  for (Index i = 0; i < model.components(); ++i) {
    for (Index j = i + 1; j < model.components(); ++j) {
      if (std::max(std::abs(model.kurtosis(i) - 3), std::abs(model.kurtosis(j) - 3)) > noise) continue;
      model.warnings.push_back(
          {Warning::Kind::close_kurtosis,
           "components " + std::to_string(i + 1) + " and " + std::to_string(j + 1) +
               ": both as good as Gaussian; nothing tells them apart, and they may still be "
               "mixed with each other",
           {i, j}});
    }
  }
}

}  // namespace demix
