#pragma once

#include "demix/methods.hpp"

namespace demix {

/// How often a component is found again (after ICASSO: Himberg, Hyvarinen, Esposito 2004). The method is run
/// o.stability times more, from random starts where it has one, on frames drawn again: each of a thousand
/// stretches of the recording as often as chance has it (a block bootstrap). Every run's components are
/// matched to the model's by correlation; model.stability is how alike those of one component are, less how
/// alike they are to those of others: 1 = the same every time, and like no other.
void find_stability(const Method& method, const Recording& X, const MethodOptions& o, Model& model);

}  // namespace demix
