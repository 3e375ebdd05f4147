#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "core/archive.hpp"
#include "demix/types.hpp"

/// A = U diag(values) V^T by Hestenes' one-sided Jacobi rotations, some at a time: columns of A are turned in
/// pairs until they are all orthogonal. Small singular values come out to as many digits as large ones.
namespace demix {

class JacobiSvd {
 public:
  JacobiSvd(Index rows, Index n)
      : A_(Matrix<double>::Zero(rows, n)),
        V_(Matrix<double>::Zero(n, n)),
        values_(Vector<double>::Zero(n)),
        order_(static_cast<std::size_t>(n)) {}

  template <typename Derived>
  void begin(const Eigen::MatrixBase<Derived>& A) {
    A_ = A;
    V_.setIdentity();
    p_ = sweep_ = 0;
    q_ = 1;
    turned_ = false;
    A_ /= scale_ = std::max(A_.cwiseAbs().maxCoeff(), 1e-300);
  }

  /// Some rotations. True: done.
  bool work() {
    const Index n = A_.cols();
    if (n < 2) return done();
    for (Index pairs = std::max<Index>(n / 2, 32768 / (A_.rows() + n)); pairs > 0; --pairs) {
      rotate(p_, q_);
      if (++q_ < n) continue;
      q_ = ++p_ + 1;
      if (q_ < n) continue;
      p_ = 0;
      q_ = 1;
      if (!std::exchange(turned_, false) || ++sweep_ >= most_sweeps) return done();
    }
    return false;
  }
  double cost() const { return 8 * 32768; }

  double value(Index i) const { return values_(order_[static_cast<std::size_t>(i)]); }  ///< descending
  auto vector(Index i) const { return V_.col(order_[static_cast<std::size_t>(i)]); }    ///< of V

  template <typename Archive>
  void fields(Archive& a) {
    a(A_, V_, values_, order_, p_, q_, sweep_, turned_, scale_);
  }
  void loaded() const {
    const Index n = A_.cols();
    require_state(p_ >= 0 && (p_ < q_ || n < 2) && q_ <= std::max<Index>(n - 1, 1),
                  "a pair of columns out of range");
    require_state(sweep_ >= 0 && sweep_ <= most_sweeps && scale_ > 0, "a sweep out of range");
    for (const Index i : order_) require_state(i >= 0 && i < n, "an order out of range");
  }

 private:
  static constexpr int most_sweeps = 30;

  void rotate(Index p, Index q) {
    const double a = A_.col(p).squaredNorm();
    const double b = A_.col(q).squaredNorm();
    const double c = A_.col(p).dot(A_.col(q));
    if (!(std::abs(c) > 1e-15 * std::sqrt(a) * std::sqrt(b)) || c == 0) return;
    turned_ = true;
    const double zeta = (b - a) / (2 * c);
    const double t = std::copysign(1, zeta) / (std::abs(zeta) + std::hypot(1.0, zeta));
    const double cosine = 1 / std::sqrt(1 + t * t);
    turn(A_, p, q, cosine, cosine * t);
    turn(V_, p, q, cosine, cosine * t);
  }
  static void turn(Matrix<double>& M, Index p, Index q, double c, double s) {
    double* x = M.col(p).data();
    double* y = M.col(q).data();
    for (Index i = 0; i < M.rows(); ++i) {
      const double old = x[i];
      x[i] = c * old - s * y[i];
      y[i] = s * old + c * y[i];
    }
  }
  bool done() {
    for (Index i = 0; i < A_.cols(); ++i) values_(i) = scale_ * A_.col(i).norm();
    std::iota(order_.begin(), order_.end(), Index{0});
    std::sort(order_.begin(), order_.end(),
              [&](Index i, Index j) { return values_(i) != values_(j) ? values_(i) > values_(j) : i < j; });
    return true;
  }

  Matrix<double> A_, V_;
  Vector<double> values_;
  std::vector<Index> order_;
  Index p_ = 0;
  Index q_ = 1;
  int sweep_ = 0;
  bool turned_ = false;
  double scale_ = 1;
};

}  // namespace demix
