#pragma once

#include <cstdint>
#include <memory>

#include "demix/linear_algebra.hpp"
#include "demix/types.hpp"
#include "demix/weight.hpp"

/// Running sums over frames: fed in blocks of any size, merged across threads or files, kept in double
/// whatever the data is. Each is one pass over the data.
namespace demix {

/// Throws std::invalid_argument naming channel and frame of the first NaN or Inf in X, which begins after so
/// many frames.
void require_finite(const Frames<double>& X, std::int64_t before = 0);

/// Mean and covariance. Frames are counted from the first ones seen, every block is centred close to its own
/// mean before its products are summed, and sums are joined by the update of Chan, Golub and LeVeque (1983),
/// so an offset far larger than the signal costs no digits.
class Moments {
 public:
  explicit Moments(Index channels);

  /// `weights`: how much each frame counts, 0 or more; null: all the same.
  void add(const AnyFrames& X, const double* weights = nullptr);
  void merge(const Moments& other);

  Index channels() const { return origin_.size(); }
  std::int64_t count() const { return count_; }  ///< frames of weight above 0
  /// As many frames that all count the same would tell as much (Kish): (sum w)^2 / sum w^2.
  double effective_count() const { return squares_ > 0 ? weight_ * weight_ / squares_ : 0; }
  /// Whether no frame had a NaN, an Inf, or a value too large to square.
  bool finite() const { return scatter_.diagonal().allFinite(); }
  Vector<double> mean() const { return origin_ + mean_; }
  Matrix<double> covariance() const;  ///< (1/T) sum (x - mean)(x - mean)^T

  /// Rounding unit of the coarsest scalar type added: what the data itself can resolve, relative to its size.
  double resolution() const { return resolution_; }

  /// What it holds, for its way to another process (core/pack.hpp).
  template <typename Archive>
  void fields(Archive& a) {
    a(count_, weight_, squares_, origin_, mean_, scatter_, resolution_);
  }

 private:
  template <typename T>
  void add_frames(const Frames<T>& X, const double* weights);
  void add_four(const Frames<double>& X, const Vector<double>& near);
  void merge_centred(Moments& one, const Vector<double>& sum);

  std::int64_t count_ = 0;
  double weight_ = 0;       // sum
  double squares_ = 0;      // of the weights
  Vector<double> origin_;   // close to the first frames
  Vector<double> mean_;     // from there
  Matrix<double> scatter_;  // lower triangle of sum (x - mean)(x - mean)^T
  double resolution_ = 0;
};

/// Activity-weighted covariance C_z = E[w(||h||^2) h h^T] of h = P (x - mean), for a given P: the whitener
/// for FOBI, the network's own M^-1 W for the paper's offline rule.
class WeightedMoments {
 public:
  WeightedMoments(Vector<double> mean, Matrix<double> P, Weight weight = Weight::square);

  void add(const AnyFrames& X, const double* weights = nullptr);
  void merge(const WeightedMoments& other);  ///< other must have the same mean, P and weight

  std::int64_t count() const { return count_; }
  Matrix<double> covariance() const;  ///< C_z

  /// What it holds but mean, P and weight, for its way to another process (core/pack.hpp).
  template <typename Archive>
  void fields(Archive& a) {
    a(count_, total_, sum_);
  }

 private:
  struct Basis;  // what all sums that are to be merged share
  std::shared_ptr<const Basis> basis_;
  std::int64_t count_ = 0;
  double total_ = 0;    // of the frames' own weights
  Matrix<double> sum_;  // of w r r^T, r = R (x - mean): its lower triangle
};

}  // namespace demix
