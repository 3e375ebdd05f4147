#pragma once

#include <optional>

#include "demix/types.hpp"

namespace demix {

/// Crosstalk to expect of outputs that solve the equations of newton_step.hpp: entry (i, j) is the standard
/// deviation of what is left of source j in output i. By batch means, so that frames may depend on each
/// other: Y, in the order of time, is cut into stretches; each asks for a Newton step E of its own, and the
/// scatter of E between stretches is that of their mean. `learned`: frames the outputs were learned from, of
/// which Y is an even sample; what differs between frames of one stretch counts by that many. A pair whose
/// curvature is not above its standard error, by the same stretches, may be anywhere up to 45 degrees. (Of
/// more standard errors speech, with its pauses, would hardly ever be promised anything.) Two outputs of
/// nearly Gaussian kurtosis need 4.5 standard errors, of whichever of the stretches and the frames has the
/// larger one.
Matrix<double> contrast_crosstalk(const Matrix<double>& Y, double learned);

/// The mean squared error to expect of outputs with this crosstalk, of so many frames; at most 1. Nothing of
/// a single output, which has no crosstalk, and of too few frames to tell.
std::optional<double> expected_error(const Matrix<double>& crosstalk, Index frames);

}  // namespace demix
