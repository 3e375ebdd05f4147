#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "demix/lambda.hpp"
#include "demix/model.hpp"
#include "demix/weight.hpp"

/// The one table of methods: it feeds `demix methods`, `--method`, the docs and the comparisons.
namespace demix {

/// Everything a method can be asked for; a method ignores nothing silently: what it cannot do, it refuses.
struct MethodOptions {
  std::uint64_t seed = 0;
  Index components = 0;          ///< 0 = as many as the data has
  std::optional<Weight> weight;  ///< default square
  bool published = false;        ///< sm-ica, sm-ica-offline: the paper's steps instead of natural ones
  std::optional<double> eta;     ///< of the published steps
  std::optional<double> tau;     ///< of the published steps
  std::vector<double> lambda;    ///< tabulated values; empty = chosen by demix
  LambdaReading reading = LambdaReading::inverse_square;  ///< what `lambda` holds
  Index passes = 1;                                       ///< online methods: times over the data
  bool shuffle = false;  ///< online methods: a new random order in every pass
  bool live = false;     ///< online methods: keep the outputs as they came out
  ProgressCallback progress;
};

/// An option that the method asked for does not have.
struct NoSuchOption : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A separation, or why there is none.
struct Outcome {
  bool ok = true;
  std::string failure;  ///< one line, when not ok
  Model model;
  Matrix<double> live;  ///< if asked for: each frame's output when it went by (for the last time)
};

struct Method {
  std::string_view name;
  bool online;               ///< one frame at a time, else over the whole recording
  bool local;                ///< every synapse learns from what is at hand (plus total activity)
  bool needs_whitening;      ///< of its input, by someone else
  std::string_view sources;  ///< what it can separate
  std::string_view cannot;   ///< what it cannot
  std::string_view reference;
  Outcome (*run)(const Frames<double>& X, const MethodOptions& options);
};

std::span<const Method> methods();
const Method& method_named(std::string_view name);  ///< throws std::invalid_argument listing the names

}  // namespace demix
