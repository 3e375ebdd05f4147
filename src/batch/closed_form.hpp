#pragma once

#include "batch/cumulants.hpp"
#include "demix/jade.hpp"
#include "demix/sm_ica_offline.hpp"
#include "demix/whitening.hpp"

/// What the methods in closed form do with their sums, wherever these come from.
namespace demix {

/// C_z = E[w(||h||^2) h h^T] = U D U^T, y = U^T h
Rotation fobi_of(const Matrix<double>& Cz, Weight weight);

/// How many neighbours JADE takes of d components. Throws std::invalid_argument if these are too many.
Index jade_neighbours(const JadeOptions& options, Index d);
/// `fourth`: of the outputs of `start`.
Rotation jade_of(const FourthSums& fourth, const JadeOptions& options, const Rotation& start);

struct FobiAndJade {
  Rotation fobi, jade;
};
/// Both of the same fourth moments: one pass, for few components.
FobiAndJade fobi_and_jade(const WhiteRecording& white);

/// Offline SM-ICA by natural steps.
Rotation sm_ica_of(SmIcaOffline& run, const Whitening& white, const Matrix<double>& Cz,
                   const SmIcaOfflineOptions& options);

/// A model but for what must be asked of its outputs: kurtoses, order, signs, diagnosis.
Model model_of(const Whitening& white, const Rotation& rotation);
/// Of channels that do not add to the rank, few frames, and what the method itself doubts.
void warn_of_basis(Model& model, const Whitening& white, const Rotation& rotation);

}  // namespace demix
