#pragma once

#include "demix/compare.hpp"

/// One run, of which comparisons and grid searches are made.
namespace demix {

/// Where a run is measured: five times per decade from 10 on, and at the end.
std::vector<Index> measured_frames(Index samples);

/// The contender's options on this problem, complete.
MethodOptions settings(const Contender& contender, const Problem& problem);

Run run_one(const Mixture& mixture, const Contender& contender, const Problem& problem, std::uint64_t seed,
            const std::vector<Index>& frames, NetworkTrace* trace = nullptr);

}  // namespace demix
