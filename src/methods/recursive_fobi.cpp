#include "methods/recursive_fobi.hpp"

#include <limits>

#include "demix/linear_algebra.hpp"

namespace demix {

RecursiveFobi::RecursiveFobi(Index inputs, Index outputs)
    : white_(inputs, std::numeric_limits<double>::epsilon(), 0),
      fourth_(inputs <= most_channels
                  ? inputs
                  : throw std::invalid_argument("recursive-fobi: expected at most 64 channels, got " +
                                                std::to_string(inputs)),
              white_.block()),
      outputs_(outputs > 0 ? outputs : inputs),
      block_(inputs, white_.block()),
      unmixing_(0, inputs) {}

bool RecursiveFobi::step(const Vector<double>& x, Vector<double>& y) {
  y.setZero();
  if (unmixing_.rows() > 0) y.head(unmixing_.rows()) = unmixing_ * (x - mean_);
  block_.col(pending_++) = x;
  if (pending_ == block_.cols()) learn(false);
  return true;
}

void RecursiveFobi::learn(bool last) {
  const Index n = white_.channels();
  if (pending_ > 0) {
    white_.begin_add(block_.leftCols(pending_));
    while (white_.busy()) white_.work();
    if (white_.moved()) {  // [1; u] <- A [1; u]
      Matrix<double> A = Matrix<double>::Zero(n + 1, n + 1);
      A(0, 0) = 1;
      A.bottomRightCorner(n, n) = white_.last_move().topRows(n);
      A.bottomLeftCorner(n, 1) = -(A.bottomRightCorner(n, n) * white_.last_zero());
      fourth_.transform(A);
    }
    fourth_.add(white_.coordinates().topRows(n));
    pending_ = 0;
  }
  if (white_.live() == 0 || (!last && white_.count() < next_solve_)) return;
  next_solve_ = 1.05 * white_.count();
  solve();
}

void RecursiveFobi::solve() {
  const Index n = white_.channels();
  const Index live = white_.live();
  Matrix<double> C(live, live);
  white_.covariance(live, C);
  const Eigenpairs eig = symmetric_eigen(C);
  Matrix<double> P = Matrix<double>::Zero(live, n);
  P.leftCols(live) = eig.values.cwiseSqrt().cwiseInverse().asDiagonal() * eig.vectors.transpose();
  if (outputs_ < live) {  // principal components in the channels' own units: P^+ = V^-1 C P^T
    const Matrix<double> dewhitener =
        white_.V_inverse().topLeftCorner(n, live) * C * P.leftCols(live).transpose();
    const Matrix<double> Q = symmetric_eigen(dewhitener.transpose() * dewhitener).vectors;
    P = (Q.rightCols(outputs_).transpose() * P).eval();
  }
  Matrix<double> H(P.rows(), n + 1);  // h = H [1; u]
  H << -(P * white_.mean()), P;
  const Matrix<double> Z = H * fourth_.contract(H.transpose() * H) * H.transpose() / white_.count();
  const Matrix<double> E = symmetric_eigen((Z + Z.transpose()) / 2).vectors.rowwise().reverse();
  unmixing_ = E.transpose() * P * white_.V().topRows(n);
  mean_ = white_.channel_mean();
}

}  // namespace demix
