#pragma once

#include "core/archive.hpp"
#include "online/square_matrix.hpp"

/// Sums over frames u, t = tanh u, s = 1 - t^2 that the Newton step of newton_step.hpp is made of:
///
///   T = sum t u^T,   D = sum s (u^2)^T,   sum t,   sum s,   sum u^4
namespace demix {

class TanhSums {
 public:
  static constexpr Index at_once = 64;  ///< frames

  explicit TanhSums(Index n)
      : T(padded_square(n)),
        D(T),
        t(Vector<double>::Zero(n)),
        s(t),
        fourth(t),
        tanh_(Matrix<double>::Zero(T.rows(), at_once)),
        slope_(tanh_),
        square_(tanh_) {}

  /// At most so many frames at_once; the first n coordinates of u, whose columns are those of T. D only if
  /// asked for.
  void add(const Eigen::Ref<const Matrix<double>>& u, Index n, bool with_D = true) {
    const Index size = u.cols();
    const Index ld = T.rows();
    kernels::tanh_and_slope(u.data(), ld * size, tanh_.data(), slope_.data());
    square_.leftCols(size) = u.cwiseAbs2();
    kernels::multiply_add(tanh_.data(), ld, u.data(), 1, ld, n, n, size, T.data(), ld);
    if (with_D) kernels::multiply_add(slope_.data(), ld, square_.data(), 1, ld, n, n, size, D.data(), ld);
    t.head(n) += tanh_.topLeftCorner(n, size).rowwise().sum();
    s.head(n) += slope_.topLeftCorner(n, size).rowwise().sum();
    fourth.head(n) += square_.topLeftCorner(n, size).cwiseAbs2().rowwise().sum();
  }
  void scale(double factor) {
    for (Matrix<double>* M : {&T, &D}) *M *= factor;
    for (Vector<double>* v : {&t, &s, &fourth}) *v *= factor;
  }
  /// Those of another, as if it had so many times the frames.
  void assign(const TanhSums& other, double factor) {
    T = factor * other.T;
    D = factor * other.D;
    t = factor * other.t;
    s = factor * other.s;
    fourth = factor * other.fourth;
  }
  void clear() {
    for (Matrix<double>* M : {&T, &D}) M->setZero();
    for (Vector<double>* v : {&t, &s, &fourth}) v->setZero();
  }
  auto tanh(Index size) const { return tanh_.leftCols(size); }      ///< of the frames last added
  auto square(Index size) const { return square_.leftCols(size); }  ///< u^2 of them

  template <typename Archive>
  void fields(Archive& a) {
    a(T, D, t, s, fourth);
  }

  Matrix<double> T, D;
  Vector<double> t, s, fourth;

 private:
  Matrix<double> tanh_, slope_, square_;  // where work is done
};

}  // namespace demix
