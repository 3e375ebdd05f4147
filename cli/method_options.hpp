#pragma once

#include <functional>

#include "arguments.hpp"
#include "console.hpp"
#include "demix/separate_files.hpp"

/// What `separate` and `fit` have in common: the choice of a method and its options.
namespace demix::cli {

struct MethodChoice {
  std::string method = "auto";
  double components = 0;
  std::string activity_weight;
  std::string reading = "inverse-square";
  std::string whiten;
  std::string order;
  std::string dynamics, autapses;
  std::vector<std::string> bad;
  std::string frame_weights;
  std::vector<std::string> pick, exclude;
  std::string bad_channels, reference;
  FilterOptions filters;
  Index threads = 0;
  MethodOptions options;
};

void add_method_options(Arguments& command, MethodChoice& choice);
// Some of them:
void add_components(Arguments& command, MethodChoice& choice);
void add_order(Arguments& command, MethodChoice& choice, const std::string& scope);
/// --bad and --frame-weights. scope: what their help says of the methods that have them.
void add_learned_frames(Arguments& command, MethodChoice& choice, const std::string& scope);

/// --pick and --exclude; --highpass, --lowpass and --notch.
void add_channel_choice(Arguments& command, std::vector<std::string>& pick, std::vector<std::string>& exclude,
                        const std::string& group);
void add_filters(Arguments& command, FilterOptions& filters, const std::string& group);

/// The library's options for what was chosen. Throws UsageError if some do not go together.
FitOptions fit_options(const MethodChoice& choice);

/// work(options) with a progress bar, on as many threads as were asked for.
template <typename Work>
auto with_method(const MethodChoice& choice, const Work& work) {
  FitOptions options = fit_options(choice);
  Progress bar("separating");
  options.options.progress = [&](double share) { bar(share); };
  return work(options);
}

}  // namespace demix::cli
