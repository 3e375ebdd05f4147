#include "targets.hpp"

#include <algorithm>

namespace demix::fuzz {

void check_message(const std::string& message, std::string_view input) {
  require(!message.empty() && std::ranges::none_of(message, [](char c) { return c == '\n' || c == '\r'; }),
          "an error is one line: " + message);
  for (const std::string_view inside : {"std::", "vector::", "basic_string", "json.exception", "bad_alloc",
                                        "bad_optional", "CLI::", "Eigen", "stoi", "stod"}) {
    require(message.find(inside) == std::string::npos || input.find(inside) != std::string_view::npos,
            "an error is in our own words: " + message);
  }
}

std::string run(std::string_view kind, std::string_view bytes) {
  if (kind == "model") return parse_model(bytes);
  if (kind == "electrodes") return read_electrodes(bytes);
  if (kind == "state") return restore_state(bytes);
  if (kind == "sums") return merge_sums(bytes);
  if (kind == "cells") return parse_cells(bytes);
  if (kind == "expect") return check_expected(bytes);
  if (kind == "arguments") return parse_arguments(bytes);
  if (kind == "info") return run_info(bytes);
  if (kind == "fit") return run_fit(bytes);
  if (kind == "page") return ask_page(bytes);
  return read_signals(kind, bytes);
}

}  // namespace demix::fuzz
