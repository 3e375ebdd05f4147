#pragma once

#include <string>

#include "demix/types.hpp"

/// Pictures as matrices, height x width, 0 is black and 1 is white: to show them on a page.
namespace demix::io {

/// An 8-bit grey PNG file, in memory. What is outside 0 to 1 is cut; io::Error if a value is not a number.
std::string to_png8(const Eigen::Ref<const Matrix<double>>& grey);

/// At most `width` pixels wide, in the same proportions: every pixel is the mean of the area it covers.
Matrix<double> shrink(const Eigen::Ref<const Matrix<double>>& picture, Index width);

}  // namespace demix::io
