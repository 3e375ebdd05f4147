#pragma once

#include <string_view>
#include <vector>

#include "demix/types.hpp"

/// How much a frame of activity a = ||h||^2 counts in C_z = E[w(a) h h^T].
/// The paper's w = a makes the eigenvalues of C_z those of kurtosis. The others grow more slowly (or fall),
/// so that a few huge frames cannot outvote the rest; they still separate sources that differ in shape.
namespace demix {

enum class Weight {
  square,      ///< w = a = ||h||^2, the paper's: eigenvalue kurt + d - 1
  norm,        ///< w = sqrt(a)
  log,         ///< w = log(1 + a)
  reciprocal,  ///< w = 1/(1 + a): bounded influence, w h h^T never exceeds 1
};

double weight_value(Weight weight, double a);       ///< w(a)
double weight_derivative(Weight weight, double a);  ///< dw/da

std::string_view weight_name(Weight weight);
Weight weight_named(std::string_view name);  ///< throws std::invalid_argument listing the names
std::vector<std::string_view> weight_names();

}  // namespace demix
