#pragma once

#include "demix/types.hpp"

namespace demix {

/// Crosstalk to expect of outputs that solve the equations of newton_step.hpp: entry (i, j) is the standard
/// deviation of what is left of source j in output i. By batch means, so that frames may depend on each
/// other: Y, in the order of time, is cut into stretches; each asks for a Newton step E of its own, and the
/// scatter of E between stretches is that of their mean. `learned`: frames the outputs were learned from, of
/// which Y is an even sample; what differs between frames of one stretch counts by that many. A pair whose
/// curvature is not above its standard error, by the same stretches, may be anywhere up to 45 degrees. (Of
/// more standard errors speech, with its pauses, would hardly ever be promised anything.)
Matrix<double> contrast_crosstalk(const Matrix<double>& Y, double learned);

}  // namespace demix
