#pragma once

#include "demix/rotation.hpp"

/// FOBI (Cardoso 1989), the three steps of the paper:
///   1.  h = P (x - mean)                 white
///   2.  C_z = E[w(||h||^2) h h^T] = U D U^T
///   3.  y = U^T h
/// Closed form. The sources must differ in kurtosis.
namespace demix {

struct FobiOptions {
  Weight weight = Weight::square;
};

Rotation fobi(const WhiteRecording& white, const FobiOptions& options = {});  ///< one pass

/// Whiten, rotate, describe. Throws std::invalid_argument as whiten() does; all other doubts are in the
/// model.
Model fobi(const Recording& X, const FobiOptions& options = {}, const BatchOptions& batch = {});
Model fobi(const Frames<float>& X, const FobiOptions& options = {}, const BatchOptions& batch = {});
Model fobi(const Frames<double>& X, const FobiOptions& options = {}, const BatchOptions& batch = {});

}  // namespace demix
