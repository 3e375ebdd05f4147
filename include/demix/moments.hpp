#pragma once

#include <cstdint>

#include "demix/linear_algebra.hpp"
#include "demix/types.hpp"
#include "demix/weight.hpp"

/// Running sums over frames: fed in blocks of any size, merged across threads or files, kept in double
/// whatever the data is. Each is one pass over the data.
namespace demix {

/// Throws std::invalid_argument naming channel and frame of the first NaN or Inf in X, which begins after so
/// many frames.
void require_finite(const Frames<double>& X, std::int64_t before = 0);

/// Mean and covariance. Frames are counted from the first one seen, every block is centred on its own mean
/// before its products are summed, and sums are joined by the update of Chan, Golub and LeVeque (1983), so an
/// offset far larger than the signal costs no digits.
class Moments {
 public:
  explicit Moments(Index channels);

  void add(const Frames<float>& X);
  void add(const Frames<double>& X);
  void merge(const Moments& other);

  Index channels() const { return origin_.size(); }
  std::int64_t count() const { return count_; }
  Vector<double> mean() const { return origin_ + mean_; }
  Matrix<double> covariance() const;  ///< (1/T) sum (x - mean)(x - mean)^T

  /// Rounding unit of the coarsest scalar type added: what the data itself can resolve, relative to its size.
  double resolution() const { return resolution_; }

 private:
  template <typename T>
  void add_frames(const Frames<T>& X);
  void join(double count, const Vector<double>& mean, const Matrix<double>& scatter);

  std::int64_t count_ = 0;
  Vector<double> origin_;   // the first frame
  Vector<double> mean_;     // from there
  Matrix<double> scatter_;  // lower triangle of sum (x - mean)(x - mean)^T
  double resolution_ = 0;
};

/// Activity-weighted covariance C_z = E[w(||h||^2) h h^T] of h = P (x - mean), for a given P: the whitener
/// for FOBI, the network's own M^-1 W for the paper's offline rule.
class WeightedMoments {
 public:
  WeightedMoments(Vector<double> mean, Matrix<double> P, Weight weight = Weight::square);

  void add(const Frames<float>& X);
  void add(const Frames<double>& X);
  void merge(const WeightedMoments& other);  ///< other must have the same mean, P and weight

  std::int64_t count() const { return count_; }
  Matrix<double> covariance() const;  ///< C_z

 private:
  template <typename T>
  void add_frames(const Frames<T>& X);

  Vector<double> mean_;
  Matrix<double> P_;
  Qr factors_;  // P = Q R: to multiply by the triangle takes half the time
  Weight weight_;
  std::int64_t count_ = 0;
  Matrix<double> sum_;  // of w r r^T, r = R (x - mean): its lower triangle
};

}  // namespace demix
