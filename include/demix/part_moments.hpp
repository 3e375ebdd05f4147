#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "demix/fourth_moments.hpp"
#include "demix/rotation.hpp"

/// The methods in closed form from sums of parts that were computed anywhere:
///
///   const PartMoments a = part_moments(X, part_coordinates(X));   // on one machine
///   const PartMoments b = part_moments(Y, part_coordinates(Y));   // on another
///   MergedMoments all({summary_of(a), summary_of(b)});
///   all.add(a);
///   all.add(b);
///   Model model = describe(all, jade(all));
///
/// A part holds all moments of its frames up to the fourth, which is all that FOBI, JADE and offline SM-ICA
/// ask of them. The order of add() matters to rounding: give parts in an order of their own.
namespace demix {

constexpr Index most_part_channels = 96;  ///< of which the sums, 3 million, take 29 MB

/// Coordinates u of a part, x = origin + B u, in which its frames are nearly white: no digits are lost to
/// offsets, units, or channels that are nearly dependent.
struct PartCoordinates {
  Vector<double> origin;
  Matrix<double> B;  ///< channels x channels
  Matrix<double> P;  ///< its inverse
};
/// From a sample of the frames. Throws std::invalid_argument for data that nothing can separate.
PartCoordinates part_coordinates(const Recording& X);

/// Frames of some recording, as sums.
struct PartMoments {
  std::string method;              ///< what they are meant for: a name of the table of methods
  std::vector<std::string> names;  ///< of the channels, or empty
  std::int64_t frames = 0;         ///< of weight above 0
  double squares = 0;              ///< sum of the squared weights
  double resolution = 0;           ///< rounding unit of the data
  Vector<double> origin;           ///< of its coordinates
  Matrix<double> B;
  /// sum w z_i z_j z_k z_l of z = [1; u], as FourthMoments holds it
  std::vector<double> sums;

  Index channels() const { return origin.size(); }
  void merge(const PartMoments& other);  ///< of the same coordinates
};
/// One pass. Throws std::invalid_argument for NaN, Inf, and more channels than most_part_channels.
PartMoments part_moments(const Recording& X, const PartCoordinates& coordinates);

/// As a file, with a version and a checksum.
std::string to_bytes(const PartMoments& part);
/// Throws std::invalid_argument if it is none, is damaged or of another version.
PartMoments parse_part_moments(std::string_view bytes);

/// What must be known of all parts before they can be added: their moments up to the second.
struct PartSummary {
  std::int64_t frames = 0;
  double total = 0, squares = 0;  ///< of the weights
  double resolution = 0;
  Vector<double> mean;
  Matrix<double> covariance;
};
PartSummary summary_of(const PartMoments& part);

/// Parts as one recording, white: its fourth moments.
class MergedMoments {
 public:
  /// Throws std::invalid_argument as whiten() does.
  explicit MergedMoments(const std::vector<PartSummary>& parts, const WhiteningOptions& options = {});
  void add(const PartMoments& part);

  const Whitening& whitening() const { return whitening_; }
  /// E[y_i y_j y_k y_l] of y = W P (x - mean), for a rotation W.
  FourthMoments<double> moments(const Matrix<double>& W) const;
  Matrix<double> weighted_covariance() const;  ///< C_z = E[||h||^2 h h^T]

 private:
  Whitening whitening_;
  double total_ = 0;  // of the weights
  std::vector<double> sums_;
};

Rotation fobi(const MergedMoments& white);
struct JadeOptions;
Rotation jade(const MergedMoments& white, const JadeOptions& options);
struct SmIcaOfflineOptions;
/// By natural steps.
Rotation sm_ica_offline(const MergedMoments& white, const SmIcaOfflineOptions& options);

/// Kurtoses, order and signs as of the whole recording. What only the frames could tell, the crosstalk to
/// expect above all, is said to be unknown.
Model describe(const MergedMoments& white, const Rotation& rotation, Order order = Order::kurtosis);

}  // namespace demix
