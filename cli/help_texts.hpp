#pragma once

#include <CLI/CLI.hpp>

#include <string>

/// The text of --help in other shapes, so that there is only one.
namespace demix::cli {

std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string man_page(const CLI::App& app);

}  // namespace demix::cli
