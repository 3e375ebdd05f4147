#pragma once

#include <string>

#include "arguments.hpp"

/// The text of --help in other shapes, so that there is only one.
namespace demix::cli {

std::string bash_completion(const Program& program);
std::string zsh_completion(const Program& program);
std::string man_page(const Program& program);

}  // namespace demix::cli
