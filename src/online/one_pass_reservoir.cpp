#include <algorithm>
#include <cmath>

#include "online/one_pass_ica.hpp"

/// What OnePassIca does with its reservoir: checks of the sums, and FastICA from where the outputs are.
namespace demix {
namespace {

constexpr int most_iterations = 40;      // of FastICA on the reservoir
constexpr double near = 0.25;            // length of a row of E from which on Newton steps converge
constexpr double at_rest = 0.02;         // and below which the sums can move along with the last one,
constexpr double slow = 0.1;             // or below this, if it shrinks no more
constexpr double growth_of_check = 1.5;  // of the count from check to check

}  // namespace

// Of sums that should describe the past; while all of it is at hand there is nothing to check.
void OnePassIca::begin_check() {
  reset_start();
  if (!fresh_ || reservoir_.complete()) return restart();
  checking_ = true;
  iterations_ = 0;
  left_ = 1e9;
  end_ = reservoir_.size();
  begin_pass();
}

void OnePassIca::reset_start() {
  B_.setZero();
  B_.topLeftCorner(outputs_, outputs_).setIdentity();
}

// FastICA on the reservoir, from v = B u.
void OnePassIca::restart() {
  checking_ = false;
  iterations_ = 0;
  left_ = 1e9;
  end_ = reservoir_.size();
  if (components_ == 0 || components_ >= white_.live()) return begin_pass();
  // Principal components in the channels' own units. C = L L^T, V^-1 L = . diag Q^T, h = Q^T L^-1 u
  const Index l = white_.live();
  white_.covariance(l, M_);
  cholesky(M_, l, 1e-300);
  work_.setZero();
  product(white_.V_inverse(), M_, channels(), l, l, work_);
  svd_.begin(work_.topRows(channels()));
  stage_ = Stage::principal;
}

void OnePassIca::principal() {
  const Index n = channels();
  const Index l = white_.live();
  white_.covariance(l, M_);
  cholesky(M_, l, 1e-300);
  A_ = M_;
  stage_ = Stage::idle;
  if (!invert(A_, l, A_inverse_)) return;
  for (Index i = 0; i < l; ++i) B_.row(i).head(l) = svd_.vector(i).head(l).transpose();  // Q^T
  A_.setZero();
  A_.topLeftCorner(n, n).setIdentity();
  product(B_, A_inverse_, l, l, l, A_);
  A_inverse_.setZero();
  A_inverse_.topLeftCorner(n, n).setIdentity();
  product_transposed(M_, B_, l, l, l, A_inverse_);
  zero_ = white_.mean();
  white_.transform(A_, A_inverse_, zero_);
  fresh_ = false;
  reset_start();
  begin_pass();
}

// v <- B (u - mean), and nothing summed
void OnePassIca::begin_pass() {
  const Index r = outputs_;
  product(B_, white_.V(), r, channels(), r, P_);
  centre_ = white_.mean();
  for (Index i = 0; i < r; ++i) c_(i) = B_.row(i).head(r).dot(white_.v0().head(r) + centre_.head(r));
  sample_.clear();
  for (Matrix<double>* M : {&S_, &square_, &crossed_}) M->setZero();
  u_.setZero();
  sampled_ = 0;
  at_ = 0;
  adopting_ = false;
  ++iterations_;
  stage_ = Stage::pass;
}

void OnePassIca::pass() {
  const Index n = channels();
  const Index r = outputs_;
  const Index ld = v_.rows();
  const Index size = std::min(TanhSums::at_once, end_ - at_);
  frames_.leftCols(size) = reservoir_.frames().middleCols(at_, size).colwise() - white_.origin();
  v_.setZero();
  for (Index t = 0; t < size; ++t) v_.col(t).head(r) = -c_.head(r);
  kernels::multiply_add(P_.data(), P_.rows(), frames_.data(), n, 1, r, size, n, v_.data(), ld);
  sample_.add(v_.leftCols(size), r);
  kernels::multiply_add(v_.data(), ld, v_.data(), 1, ld, r, r, size, S_.data(), S_.rows());
  u_.head(r) += v_.topLeftCorner(r, size).rowwise().sum();
  if (checking_) {
    tv_.leftCols(size) = sample_.tanh(size).cwiseProduct(v_.leftCols(size));
    kernels::multiply_add(tv_.data(), ld, tv_.data(), 1, ld, r, r, size, crossed_.data(), crossed_.rows());
    tv_.leftCols(size) = sample_.tanh(size).cwiseAbs2();
    kernels::multiply_add(tv_.data(), ld, sample_.square(size).data(), 1, ld, r, r, size, square_.data(),
                          square_.rows());
  }
  sampled_ += static_cast<double>(size);
  at_ += size;
  if (at_ >= end_) stage_ = Stage::judge;
}

// Does the gradient on the reservoir tell of other sources than the sums do?
bool OnePassIca::stale() {
  const Index r = outputs_;
  const double n = count();
  for (Index i = 0; i < r; ++i) {
    step_.k(i) = sums_.s(i) * (white_.scatter()(i, i) / n) - sums_.T(i, i) < 0 ? -1 : 1;
  }
  double sum = 0;
  double largest = 0;
  for (Index j = 0; j < r; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double ki = step_.k(i);
      const double kj = step_.k(j);
      const double gradient = ki * sample_.T(i, j) - kj * sample_.T(j, i);
      const double variance = square_(i, j) + square_(j, i) - 2 * ki * kj * crossed_(i, j);
      const double z2 = variance > 0 ? gradient * gradient / variance : 0;
      sum += z2;
      largest = std::max(largest, z2);
    }
  }
  const double pairs = std::max(1.0, static_cast<double>(r * (r - 1)) / 2);
  return !(sum / pairs <= 1.5 + 3 * std::sqrt(2 / pairs)) || !(largest <= 25);
}

// The pass goes on with the frames that have come meanwhile.
void OnePassIca::catch_up() {
  end_ = reservoir_.size();
  stage_ = at_ < end_ ? Stage::pass : Stage::adopt;
}

// After a pass: whiten, turn, or be content.
void OnePassIca::judge() {
  const Index r = outputs_;
  if (adopting_) return catch_up();
  if (checking_ && !stale()) {
    checking_ = false;
    since_check_ = 0;
    next_check_ = growth_of_check * count();
    stage_ = Stage::newton;
    return;
  }
  if (checking_) {
    checking_ = false;
    if (components_ > 0) return restart();
  }
  // Expectations, centred: M <- S, work <- T, A <- D
  double off = 0;
  for (Index j = 0; j < r; ++j) {
    const double mean = u_(j) / sampled_;
    M_.col(j).head(r) = S_.col(j).head(r) / sampled_ - u_.head(r) * (mean / sampled_);
    work_.col(j).head(r) = sample_.T.col(j).head(r) / sampled_ - sample_.t.head(r) * (mean / sampled_);
    A_.col(j).head(r) = sample_.D.col(j).head(r) / sampled_;
    off = std::max(off, M_.col(j).head(r).cwiseAbs().sum() - std::abs(M_(j, j)) + std::abs(M_(j, j) - 1));
  }
  for (Index i = 0; i < r; ++i) step_.k(i) = sample_.s(i) / sampled_ * M_(i, i) - work_(i, i) < 0 ? -1 : 1;
  step_.solve(M_, work_, A_, r);
  const double left = step_.E.topLeftCorner(r, r).rowwise().norm().maxCoeff();
  const bool content = precise_ ? left < 1e-10 : left < at_rest || (left < slow && left > 0.7 * left_);
  left_ = left;
  if (content || iterations_ >= most_iterations) {
    adopting_ = true;
    catch_up();
  } else if (left < near) {
    A_.topLeftCorner(r, r) = step_.E.topLeftCorner(r, r);
    A_.diagonal().head(r).array() += 1;
    product(A_, B_, r, r, r, work_);
    B_.swap(work_);
    begin_pass();
  } else if (off > 0.1) {
    root_.begin(M_, r);
    stage_ = Stage::whiten;
  } else {
    // M <- T - diag(s), each row positive on its diagonal
    M_.topLeftCorner(r, r) = work_.topLeftCorner(r, r);
    M_.diagonal().head(r) -= sample_.s.head(r) / sampled_;
    for (Index i = 0; i < r; ++i) {
      if (M_(i, i) < 0) M_.row(i).head(r) *= -1;
    }
    product_transposed(M_, M_, r, r, r, work_);
    root_.begin(work_, r);
    stage_ = Stage::turn;
  }
}

// FastICA: v <- (M M^T)^-1/2 M v
void OnePassIca::turn() {
  const Index r = outputs_;
  product(root_.result(), M_, r, r, r, A_);
  product(A_, B_, r, r, r, work_);
  B_.swap(work_);
  begin_pass();
}

// u <- v, and the sums are those of the sample.
void OnePassIca::adopt() {
  const Index n = channels();
  const Index r = outputs_;
  A_.setZero();
  A_.topLeftCorner(n, n).setIdentity();
  A_.topLeftCorner(r, r) = B_.topLeftCorner(r, r);
  work_ = A_;
  stage_ = Stage::idle;
  since_check_ = 0;
  next_check_ = growth_of_check * count();
  if (!invert(work_, n, A_inverse_)) return;
  white_.transform(A_, A_inverse_, centre_);
  const double factor = count() / sampled_;
  sums_.assign(sample_, factor);
  apart_.setZero();
  apart_mean_.setZero();
  apart_mean_.head(r) = factor * u_.head(r) - count() * white_.mean().head(r);
  for (Index j = 0; j < r; ++j) {
    apart_.col(j).head(r) = factor * S_.col(j).head(r) - white_.scatter().col(j).head(r) -
                            (count() * white_.mean()(j)) * white_.mean().head(r);
  }
  fresh_ = true;
  stage_ = Stage::newton;
}

}  // namespace demix
