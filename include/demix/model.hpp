#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "demix/types.hpp"

/// What a separator learned: enough to separate new data, to undo it, and to judge it.
namespace demix {

/// Something the user should know before trusting the result.
struct Warning {
  enum class Kind { close_kurtosis, reduced_rank, few_samples, not_converged };
  Kind kind;
  std::string text;               ///< one line, components and channels counted from 1
  std::vector<Index> components;  ///< concerned, counted from 0
};

struct Model {
  std::string method;                          ///< name in the table of methods
  std::map<std::string, std::string> options;  ///< what it was called with
  std::string version;                         ///< of the library that made it
  std::vector<std::string> names;              ///< of the channels, or empty
  Vector<double> mean;                         ///< of the channels
  Matrix<double> unmixing;                     ///< components x channels
  Matrix<double> mixing;                       ///< channels x components, unmixing * mixing = I
  Vector<double> kurtosis;   ///< of each component; Gaussian = 3; descending, but for streams
  std::int64_t samples = 0;  ///< learned from
  std::vector<Warning> warnings;

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

/// Order by descending kurtosis and fix signs: each component is positive on the channel where it is
/// strongest (largest |mixing| in units of that channel's deviation; the first such channel on a tie).
/// `deviation` has one entry per channel.
void put_in_order(Model& model, const Vector<double>& deviation);

}  // namespace demix
