#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "demix/diagnosis.hpp"
#include "demix/types.hpp"

/// What a separator learned: enough to separate new data, to undo it, and to judge it.
namespace demix {

/// Something the user should know before trusting the result.
struct Warning {
  enum class Kind {
    unresolved,  ///< components too alike to tell apart with so many frames
    gaussian,    ///< components that nothing tells apart
    reduced_rank,
    few_samples,
    not_converged,
    refused_frames,  ///< that hold NaN or Inf
    convolved,       ///< echoes or delays, which no instantaneous separation can undo
    dependent,       ///< these components go on and off together
    glitches,        ///< a few frames make most of a component, or were left out
    drift,           ///< slower than the recording can hold a few cycles of
    clipped,         ///< channels that are cut off at their largest value
    unstable         ///< not found again in halves of the recording
  };
  Kind kind;
  std::string text;                       ///< one line, components and channels counted from 1
  std::vector<Index> components;          ///< concerned, counted from 0
  std::vector<std::int64_t> frames = {};  ///< concerned, counted from 0
};

/// How a method that takes steps got to its end.
struct Convergence {
  bool converged = true;
  Index iterations = 0;           ///< over all that it learned from
  std::vector<double> objective;  ///< before each of them (FastICA by deflation: of each component, at last)

  bool has_steps() const { return iterations > 0 || !objective.empty(); }  ///< else it is closed form
};

/// A component that is likely no signal of the brain.
struct Suggestion {
  Index component = 0;  ///< counted from 0
  std::string kind;     ///< "blink", "eye-movement", "heart", "muscle", "line-noise", "channel"
  std::string reason;   ///< "r = .94 with EOG1, frontal"
};

struct Model {
  std::string method;                          ///< name in the table of methods
  std::map<std::string, std::string> options;  ///< what it was called with
  std::string version;                         ///< of the library that made it
  std::vector<std::string> names;              ///< of the channels, or empty
  Vector<double> mean;                         ///< of the channels
  Matrix<double> unmixing;                     ///< components x channels
  Matrix<double> mixing;                       ///< channels x components, unmixing * mixing = I
  Vector<double> kurtosis;                     ///< of each component; Gaussian = 3
  Vector<double> stability;  ///< of each component, if it was asked for: 1 = found in both halves every time
  std::int64_t samples = 0;  ///< learned from
  Convergence convergence;
  Diagnosis diagnosis;
  std::vector<Warning> warnings;
  std::vector<Suggestion> suggestions;  ///< what to remove, and why

  Index channels() const { return mean.size(); }
  Index components() const { return unmixing.rows(); }

  /// Sources of new data: Y = unmixing (X - mean). Computed in double, returned as the data came.
  Matrix<float> apply(const Frames<float>& X) const;
  Matrix<double> apply(const Frames<double>& X) const;

  /// Channels from sources: X = mean + mixing Y.
  Matrix<float> invert(const Frames<float>& Y) const;
  Matrix<double> invert(const Frames<double>& Y) const;

  /// The recording without these components (counted from 0): X - sum_k mixing_k unmixing_k (X - mean). What
  /// the model does not describe (directions dropped by whitening) is kept.
  Matrix<float> remove(const Frames<float>& X, const std::vector<Index>& components) const;
  Matrix<double> remove(const Frames<double>& X, const std::vector<Index>& components) const;

  /// Throws std::invalid_argument naming the first thing wrong: shapes, NaN, unmixing * mixing != I.
  void validate() const;
};

/// What components are put in order by, the largest first: kurtosis, or the power they explain, which is the
/// sum over the channels of what they add to the variance.
enum class Order { kurtosis, power };
std::string_view order_name(Order order);
Order order_named(std::string_view name);  ///< throws std::invalid_argument listing the names

/// Put in order and fix signs: each component is positive on the channel where it is
/// strongest (largest |mixing| in units of that channel's deviation; the first such channel on a tie).
/// `deviation` has one entry per channel. Returns which component each one was before.
std::vector<Index> put_in_order(Model& model, const Vector<double>& deviation, Order order = Order::kurtosis);

}  // namespace demix
