#pragma once

#include <string_view>
#include <vector>

#include "demix/types.hpp"

/// How much a frame of activity a = ||h||^2 counts in C_z = E[w(a) h h^T], and in the networks the modulator
/// w(||y||^2). The paper's w = a makes the eigenvalues of C_z those of kurtosis. Those that grow more slowly
/// (or fall) keep a few huge frames from outvoting the rest; all but the square tell apart sources of equal
/// kurtosis that differ in another even moment.
namespace demix {

enum class Weight {
  square,      ///< w = a = ||h||^2, the paper's: eigenvalue kurt + d - 1
  norm,        ///< w = sqrt(a)
  log,         ///< w = log(1 + a)
  reciprocal,  ///< w = 1/(1 + a): bounded influence, w h h^T never exceeds 1
  fourth,      ///< w = a^2: sixth moments, the more sensitive to outliers
};

double weight_value(Weight weight, double a);       ///< w(a)
double weight_derivative(Weight weight, double a);  ///< dw/da

/// What w(||h||^2) h h^T averages to for d Gaussian sources: E[w(a) a]/d, a chi-squared of d degrees; d + 2
/// for w = a.
double gaussian_weight(Weight weight, Index d);

std::string_view weight_name(Weight weight);
Weight weight_named(std::string_view name);  ///< throws std::invalid_argument listing the names
std::vector<std::string_view> weight_names();

}  // namespace demix
