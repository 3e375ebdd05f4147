#pragma once

#include "demix/types.hpp"

namespace demix {

/// The permutation p that minimises sum_i cost(i, p[i]) (Hungarian algorithm, O(n^3)). cost is square and
/// finite.
std::vector<Index> assign(const Matrix<double>& cost);

}  // namespace demix
