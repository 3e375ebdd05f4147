#pragma once

#include <string>
#include <vector>

#include "arguments.hpp"
#include "demix/eeg_files.hpp"

/// What fit, separate and apply say of an EEG.
namespace demix::cli {

void add_positions_option(Arguments& command, std::string& file);

/// On stdout: the suggestions, and what to type to follow them.
void print_suggestions(const Model& model, const std::string& model_file,
                       const std::vector<std::string>& inputs);

/// What is wrong with a word as a component or a kind of suggestion.
std::string component_complaint(const std::string& word);

}  // namespace demix::cli
