#pragma once

#include <string>

#include "demix/types.hpp"

namespace demix::report {

/// A picture of numbers as an address for <img>: blue is -most, white 0, red most, grey is not a number. BMP,
/// as it needs no library and every browser shows it.
std::string bitmap(const Matrix<float>& values, double most);

}  // namespace demix::report
