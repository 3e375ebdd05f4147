#pragma once

#include "arguments.hpp"
#include "demix/methods.hpp"
#include "demix/signal_files.hpp"

/// What `separate` and `fit` have in common: the choice of a method and its options.
namespace demix::cli {

struct MethodChoice {
  std::string method = "auto";
  double components = 0;
  std::string weight;
  std::string reading = "inverse-square";
  std::string whiten;
  std::string order;
  std::vector<std::string> bad;
  std::string weights;
  Index threads = 0;
  MethodOptions options;
};

void add_method_options(Arguments& command, MethodChoice& choice);

/// Runs it with a progress bar; `name` is the input's, for messages. A failure is thrown.
Outcome run_method(const MethodChoice& choice, const io::FileRecording& input, const std::string& name);

}  // namespace demix::cli
