#include "eeg_output.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "terminal.hpp"

namespace demix::cli {

void add_positions_option(Arguments& command, std::string& file) {
  command
      .option("--positions", file,
              "EEG: file of electrode positions (.loc, .locs, .elc, .sfp, BIDS electrodes.tsv). Default: "
              "positions in the input, else standard 10-05 positions by channel name")
      .value("FILE");
}

void print_suggestions(const Model& model, const std::string& model_file,
                       const std::vector<std::string>& inputs) {
  if (model.suggestions.empty()) return;
  for (const Suggestion& s : model.suggestions) {
    std::string kind = s.kind;
    std::ranges::replace(kind, '-', ' ');
    fmt::print("{}: {}, {}\n", s.component + 1, kind, terminal_text(s.reason));
  }
  fmt::print("Look at them in the report. To remove them:\n  {}\n",
             removal_command(model, model_file, {inputs.begin(), inputs.end()}));
}

std::string component_complaint(const std::string& word) {
  const auto all = [&](auto holds) { return !word.empty() && std::ranges::all_of(word, holds); };
  if (all([](unsigned char c) { return std::isdigit(c) != 0; }) && word.size() < 10) return "";
  if (all([](unsigned char c) { return std::islower(c) != 0 || c == '-'; }) && word[0] != '-') return "";
  return "'" + word + "': expected a number of a component, or a kind of suggestion";
}

}  // namespace demix::cli
