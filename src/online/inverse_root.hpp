#pragma once

#include "core/archive.hpp"
#include "online/square_matrix.hpp"

/// S^-1/2 of a positive definite S by the coupled iteration of Newton and Schulz, products only, one
/// iteration at a time:
///
///   Y = S / c, Z = I;   G = (3 I - Z Y) / 2,  Y <- Y G,  Z <- G Z;   Z -> (S / c)^-1/2
///
/// With it W <- (W W^T)^-1/2 W makes the rows of W orthonormal.
namespace demix {

class InverseRoot {
 public:
  explicit InverseRoot(Index n) : Y_(padded_square(n)), Z_(Y_), G_(Y_), work_(Y_) {}

  void begin(const Matrix<double>& S, Index n) {
    n_ = n;
    iterations_ = 0;
    scale_ = 1e-300;  // above every eigenvalue
    for (Index j = 0; j < n; ++j) scale_ = std::max(scale_, S.col(j).head(n).cwiseAbs().sum());
    Y_.topLeftCorner(n, n) = S.topLeftCorner(n, n) / scale_;
    Z_.topLeftCorner(n, n).setIdentity();
  }

  /// One iteration. True: done, and result() is there.
  bool work() {
    product(Z_, Y_, n_, n_, n_, G_);
    auto G = G_.topLeftCorner(n_, n_);
    G.diagonal().array() -= 1;
    const double off = G.cwiseAbs().maxCoeff();
    G /= -2;
    G.diagonal().array() += 1;  // (3 I - Z Y) / 2 = I - (Z Y - I) / 2
    product(Y_, G_, n_, n_, n_, work_);
    Y_.topLeftCorner(n_, n_) = work_.topLeftCorner(n_, n_);
    product(G_, Z_, n_, n_, n_, work_);
    Z_.topLeftCorner(n_, n_) = work_.topLeftCorner(n_, n_);
    ++iterations_;
    if (off > 1e-7 && iterations_ < most_iterations) return false;  // the next one squares it
    Z_.topLeftCorner(n_, n_) /= std::sqrt(scale_);
    return true;
  }
  double cost() const { return 3 * static_cast<double>(n_ * n_ * n_); }
  const Matrix<double>& result() const { return Z_; }
  Index size() const { return n_; }

  template <typename Archive>
  void fields(Archive& a) {
    a(n_, iterations_, scale_, Y_, Z_);
  }
  void loaded() const {
    require_state(n_ >= 0 && n_ <= Y_.cols(), "a root larger than its matrix");
    require_state(iterations_ >= 0 && iterations_ <= most_iterations && scale_ > 0, "a root out of range");
  }

 private:
  static constexpr int most_iterations = 60;
  Index n_ = 0;
  int iterations_ = 0;
  double scale_ = 1;
  Matrix<double> Y_, Z_, G_, work_;
};

}  // namespace demix
