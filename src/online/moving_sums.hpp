#pragma once

#include "online/newton_step.hpp"
#include "online/reservoir_pass.hpp"
#include "online/tanh_sums.hpp"
#include "online/white_coordinates.hpp"

/// Sums over all frames of a stream at the outputs of the time, which move along when the outputs do:
///
///   u <- A (u - mean),  A = I + E:   T <- (T - t mean^T) A^T + E o D,   t <- t - s o mean
///
/// The error of that is of second order in E. Sums that began as those of a sample stand for
///
///   sum u u^T = scatter + count mean mean^T + apart,   sum u = count mean + apart_mean
namespace demix {

class MovingSums {
 public:
  explicit MovingSums(Index n)
      : sums_(n),
        apart_(padded_square(n)),
        apart_mean_(Vector<double>::Zero(n)),
        work_(apart_),
        mean_(apart_mean_) {}

  /// Those of a pass over a sample, as if it were all frames; the coordinates have its centre.
  void begin(const ReservoirPass& sample, const WhiteCoordinates& white, Index r);
  void add(const Eigen::Ref<const Matrix<double>>& u, Index r) { sums_.add(u, r); }
  void scale(double factor);
  void expectations(const WhiteCoordinates& white, Index r, Expectations& e);
  /// Along with u <- A (u - mean), before the coordinates do. A: of full size.
  void move(const Matrix<double>& A, const Vector<double>& mean, Index r);
  double fourth(Index output) const { return sums_.fourth(output); }
  void clear() { sums_.clear(); }

  template <typename Archive>
  void fields(Archive& a) {
    a(sums_, apart_, apart_mean_);
  }

 private:
  TanhSums sums_;
  Matrix<double> apart_;
  Vector<double> apart_mean_;

  Matrix<double> work_;
  Vector<double> mean_;
};

}  // namespace demix
