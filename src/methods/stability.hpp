#pragma once

#include "demix/methods.hpp"

namespace demix {

/// How far a component is found again (after ICASSO: Himberg, Hyvarinen, Esposito 2004). o.stability times
/// the recording is split into halves by chance, and the method run on both, from random starts where it has
/// one. Their components are matched to the model's by correlation; model.stability is how alike those of one
/// component are in the two halves, less how alike they are to those of others: 1 = the same every time, and
/// like no other. (Two halves have no frame in common, and so no structure that is there by chance. Frames
/// drawn again, as a bootstrap does, have: it finds the extremes of noise again, with up to 0.93.)
/// Throws std::invalid_argument if no two halves have so many components.
void find_stability(const Method& method, const Recording& X, const MethodOptions& o, Model& model);

}  // namespace demix
