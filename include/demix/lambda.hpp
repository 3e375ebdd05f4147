#pragma once

#include <string_view>
#include <vector>

#include "demix/types.hpp"

/// Lambda, the diagonal matrix that breaks the symmetry between outputs. Everything in demix takes
/// lambda_i^2.
namespace demix {

/// lambda_i^2 evenly over [.1, 1.9] (d + 2), ascending: spread enough to converge for any sources, no
/// kurtosis known beforehand. The largest lambda takes the source of smallest kurtosis, so ascending lambda
/// sorts the outputs by descending kurtosis.
Vector<double> default_lambda2(Index d);

/// lambda_i^2 = .05 (d + 2) 100^(i/(d-1)), ascending: equal ratios between neighbours, so that every pair of
/// outputs separates at the same pace. What the network with natural steps uses.
Vector<double> geometric_lambda2(Index d);

/// What the numbers in the paper's tables stand for. Table 1 heads them "Lambda", table 2 "Lambda^-1", and
/// the authors' notebooks multiply by them where Algorithm 1 has Lambda^-2.
enum class LambdaReading {
  inverse_square,  ///< value = lambda^-2: what the notebooks compute
  direct,          ///< value = lambda: as table 1 is headed
  inverse,         ///< value = lambda^-1: as table 2 is headed
};

/// Throws std::invalid_argument unless all are positive, finite and different from each other.
void require_distinct(const Vector<double>& lambda2);

/// lambda_i^2 of tabulated values under a reading. Throws std::invalid_argument unless all are positive and
/// finite.
Vector<double> lambda2_from_table(const std::vector<double>& values, LambdaReading reading);

LambdaReading lambda_reading_named(std::string_view name);  ///< "inverse-square", "direct", "inverse"

}  // namespace demix
