#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>

#include "demix/contrast.hpp"
#include "demix/lambda.hpp"
#include "demix/model.hpp"
#include "demix/network_trace.hpp"
#include "demix/recording.hpp"
#include "demix/rule.hpp"
#include "demix/sm_ica_network.hpp"
#include "demix/weight.hpp"

/// The one table of methods: it feeds `demix methods`, `--method`, the docs and the comparisons.
namespace demix {

class OnlineSeparator;

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
  std::optional<Order> order;  ///< batch ICA: of the components; default by kurtosis
  std::optional<Matrix<double>> start;  ///< fastica, picard: an unmixing to go on from
  std::optional<Index> max_iterations;  ///< batch methods that take steps: at most so many; jade: sweeps
  std::optional<double> tolerance;      ///< the same: when they are done, as each defines it
  Index stability = 0;                  ///< batch ICA: times it is done again on two halves of the frames
  Index passes = 1;                     ///< online methods: times over the data
  bool shuffle = false;                 ///< online methods: a new random order in every pass
  bool online_output = false;           ///< online methods: keep the outputs as they came out
  std::optional<SmIcaNetworkOptions::Dynamics>
      dynamics;                   ///< sm-ica as published: how its outputs settle; default solve
  std::optional<bool> autapses;   ///< of iterated dynamics; see SmIcaNetworkOptions
  NetworkTrace* trace = nullptr;  ///< networks: where to note what they are like while they learn
  /// Of own_rule(): makes the separator, from its numbers of inputs and outputs and a seed.
  std::function<std::unique_ptr<OnlineSeparator>(Index, Index, std::uint64_t)> rule;
  ProgressCallback progress;
};

/// An option that the method asked for does not have.
struct NoSuchOption : std::invalid_argument {
  /// `where`: " in its form natural", or nothing.
  NoSuchOption(std::string_view of, std::string name, const std::string& where = {})
      : std::invalid_argument("method " + std::string(of) + " has no option " + name + where),
        method(of),
        option(std::move(name)),
        of_form(where) {}
  std::string method, option, of_form;
};

/// An online method whose input has to be whitened first, or not to be: it does not say which.
struct NeedsWhitening : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A form that the method asked for does not have.
struct NoSuchForm : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

/// A method that has found nothing: its weights grew without bound, or it came to no separation. What to do
/// about it is in the text.
struct Diverged : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A separation.
struct Outcome {
  Model model;
  std::string why;               ///< this method, if it was left to demix
  Matrix<double> online_output;  ///< if asked for: each frame's output when it went by (for the last time)
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
  /// Networks that learn: the last frame into the trace.
  virtual void note(NetworkTrace&) const {}
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

std::string_view locality_name(Locality locality);  ///< no, synapses, yes

struct Method {
  std::string_view name;
  bool online = false;                 ///< one frame at a time, else over the whole recording
  Locality locality = Locality::none;  ///< of the forms that have none of their own
  Input input = Input::any;
  Finds finds = Finds::sources;
  std::string_view sources = {};  ///< what it can separate
  std::string_view cannot = {};   ///< what it cannot
  std::string_view reference = {};
  std::span<const Form> forms = {};       ///< the default first
  double tau = 0;                         ///< its default; 0: it has none
  bool square = false;                    ///< as many outputs as inputs
  bool by_kurtosis = false;               ///< it comes to FOBI's optimum
  std::optional<Contrast> contrast = {};  ///< it comes to symmetric FastICA's optimum of this one
  double passes = 0;  ///< that it usually takes over a recording, if batch: to tell how far it is

  /// Of those options that few methods have.
  bool takes_lambda = false;
  bool takes_weight = false;        ///< w(||y||)
  bool takes_sub_gaussian = false;  ///< how many sources are
  bool takes_start = false;         ///< an unmixing to go on from
  bool is_network = false;          ///< can be traced
  bool takes_tolerance = false;     ///< and a largest number of iterations
  bool batch_ica = false;           ///< weights of frames, order, stability

  Outcome (*batch)(const Recording& X, const MethodOptions& options) = nullptr;  // if batch
  std::unique_ptr<OnlineSeparator> (*make)(Index inputs, Index outputs,
                                           const MethodOptions& o) = nullptr;  // if online

  const Form& form_named(std::string_view name) const;  ///< "" = the default; throws NoSuchForm
  Locality locality_of(const Form& form) const { return form.locality.value_or(locality); }
  /// Throws NoSuchOption or NoSuchForm for what it does not have; fills in form, eta and tau where they are
  /// left to it.
  MethodOptions checked(MethodOptions options) const;
  /// Throws std::invalid_argument for data that cannot be separated, and Diverged.
  Outcome run(const Recording& X, const MethodOptions& options) const;
  Outcome run(const Frames<double>& X, const MethodOptions& options) const;
  /// An online method, ready for its first frame. Its initial weights have nothing to do with what else was
  /// drawn from the same seed, as a mixing may have been.
  std::unique_ptr<OnlineSeparator> start(Index inputs, Index outputs, const MethodOptions& options) const;
};

std::span<const Method> methods();

/// An online method that is not in the table: MethodOptions::rule, run and compared as those that are. Its
/// input is centred.
const Method& own_rule();
const Method& method_named(std::string_view name);  ///< throws std::invalid_argument listing the names

}  // namespace demix
