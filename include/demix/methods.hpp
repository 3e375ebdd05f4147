#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "demix/lambda.hpp"
#include "demix/model.hpp"
#include "demix/recording.hpp"
#include "demix/rule.hpp"
#include "demix/weight.hpp"

/// The one table of methods: it feeds `demix methods`, `--method`, the docs and the comparisons.
namespace demix {

/// Everything a method can be asked for; a method ignores nothing silently: what it cannot do, it refuses.
struct MethodOptions {
  std::uint64_t seed = 0;
  Index components = 0;          ///< 0 = as many as the data has
  double share = 0;              ///< as few principal components as hold this share of the power; 0 = all
  std::string form;              ///< one of the method's forms; empty = its default
  std::optional<double> eta;     ///< learning rate, of the forms that have one to choose
  std::optional<double> tau;     ///< ratio of the rates of W and M
  std::optional<Weight> weight;  ///< default square
  std::vector<double> lambda;    ///< tabulated values; empty = chosen by demix
  LambdaReading reading = LambdaReading::inverse_square;  ///< what `lambda` holds
  std::optional<Index> sub_gaussian;                      ///< orica: how many sources are
  std::optional<bool> whiten;  ///< online methods: whiten the input first; not given: see Input::white
  std::optional<Order> order;  ///< workhorses: of the components; default by kurtosis
  std::optional<Matrix<double>> start;  ///< fastica, picard: an unmixing to go on from
  Index stability = 0;                  ///< workhorses: times it is done again on two halves of the frames
  Index passes = 1;                     ///< online methods: times over the data
  bool shuffle = false;                 ///< online methods: a new random order in every pass
  bool live = false;                    ///< online methods: keep the outputs as they came out
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
  std::string why;      ///< this method, if it was left to demix
  Matrix<double> live;  ///< if asked for: each frame's output when it went by (for the last time)
};

/// An online method at work, whichever it is.
class OnlineSeparator {
 public:
  virtual ~OnlineSeparator() = default;
  /// One frame; false: it has failed and stays so, y = 0.
  virtual bool step(const Vector<double>& x, Vector<double>& y) = 0;
  virtual void finish() {}                            ///< no more frames: learn what is still pending
  virtual Matrix<double> unmixing() const = 0;        ///< of now
  virtual std::string failure() const { return {}; }  ///< one line, if it has
};

/// What a method needs of its input.
enum class Input {
  any,
  centred,  ///< mean 0
  white,  ///< uncorrelated, variance 1: done or not as MethodOptions::whiten says; if it says nothing and the
          ///< input is not white, the method refuses
};
std::string_view input_name(Input input);

/// What comes out.
enum class Finds { sources, subspace, features };
std::string_view finds_name(Finds finds);

struct Method {
  std::string_view name;
  bool online;  ///< one frame at a time, else over the whole recording
  bool local;   ///< every synapse learns from what is at hand (plus one number for all)
  Input input;
  Finds finds;
  std::string_view sources;  ///< what it can separate
  std::string_view cannot;   ///< what it cannot
  std::string_view reference;
  std::span<const Form> forms;                                         ///< the default first
  double tau;                                                          ///< its default; 0: it has none
  bool square;                                                         ///< as many outputs as inputs
  unsigned options;                                                    ///< of those that few have
  Outcome (*batch)(const Recording& X, const MethodOptions& options);  // if batch
  std::unique_ptr<OnlineSeparator> (*make)(Index inputs, Index outputs, const MethodOptions& o);  // if online

  static constexpr unsigned takes_lambda = 1, takes_weight = 2, takes_sub_gaussian = 4, fobi_optimum = 8,
                            takes_start = 16, workhorse = 32;  ///< takes frame weights, order, stability

  const Form& form_named(std::string_view name) const;  ///< "" = the default; throws NoSuchOption
  /// Throws NoSuchOption for what it does not have; fills in form, eta and tau where they are left to it.
  MethodOptions checked(MethodOptions options) const;
  Outcome run(const Recording& X, const MethodOptions& options) const;
  Outcome run(const Frames<double>& X, const MethodOptions& options) const;
  /// An online method, ready for its first frame. Its initial weights have nothing to do with what else was
  /// drawn from the same seed, as a mixing may have been.
  std::unique_ptr<OnlineSeparator> start(Index inputs, Index outputs, const MethodOptions& options) const;
};

std::span<const Method> methods();
const Method& method_named(std::string_view name);  ///< throws std::invalid_argument listing the names

}  // namespace demix
