#include "online/reservoir_pass.hpp"

#include <algorithm>
#include <cmath>

namespace demix {

ReservoirPass::ReservoirPass(Index n) : sums_(n) {
  centre_ = v_sum_ = Vector<double>::Zero(n);
  S_ = square_ = crossed_ = padded_square(n);
  frames_ = Matrix<double>::Zero(n, TanhSums::at_once);
  v_ = tv_ = Matrix<double>::Zero(S_.rows(), TanhSums::at_once);
}

void ReservoirPass::loaded() const {
  require_state(kind_ >= Kind::gradient && kind_ <= Kind::check, "no such pass");
  require_state(outputs_ >= 0 && outputs_ <= centre_.size(), "more outputs than channels");
  require_state(at_ >= 0 && at_ <= end_, "a frame of the sample out of range");
}

void ReservoirPass::begin(Kind kind, const WhiteCoordinates& white, Index outputs, Index end) {
  kind_ = kind;
  outputs_ = outputs;
  at_ = 0;
  end_ = end;
  centre_ = white.mean();
  sums_.clear();
  for (Matrix<double>* M : {&S_, &square_, &crossed_}) M->setZero();
  v_sum_.setZero();
}

double ReservoirPass::cost() const {
  const auto r = static_cast<double>(outputs_);
  const double products = kind_ == Kind::gradient ? 3 : kind_ == Kind::newton ? 4 : 6;
  return TanhSums::at_once * (products * r * r + 20 * r);
}

bool ReservoirPass::work(const Reservoir& reservoir, const WhiteCoordinates& white) {
  const Index n = white.channels();
  const Index r = outputs_;
  const Index ld = v_.rows();
  const Index size = std::min(TanhSums::at_once, end_ - at_);
  frames_.leftCols(size) = reservoir.frames().middleCols(at_, size).colwise() - white.origin();
  v_.setZero();
  for (Index t = 0; t < size; ++t) v_.col(t).head(r) = -white.v0().head(r) - centre_.head(r);
  kernels::multiply_add(white.V().data(), white.V().rows(), frames_.data(), n, 1, r, size, n, v_.data(), ld);
  sums_.add(v_.leftCols(size), r, kind_ != Kind::gradient);
  kernels::multiply_add(v_.data(), ld, v_.data(), 1, ld, r, r, size, S_.data(), S_.rows());
  v_sum_.head(r) += v_.topLeftCorner(r, size).rowwise().sum();
  if (kind_ == Kind::check) {
    tv_.leftCols(size) = sums_.tanh(size).cwiseProduct(v_.leftCols(size));
    kernels::multiply_add(tv_.data(), ld, tv_.data(), 1, ld, r, r, size, crossed_.data(), crossed_.rows());
    tv_.leftCols(size) = sums_.tanh(size).cwiseAbs2();
    kernels::multiply_add(tv_.data(), ld, sums_.square(size).data(), 1, ld, r, r, size, square_.data(),
                          square_.rows());
  }
  at_ += size;
  return done();
}

void ReservoirPass::expectations(Expectations& e) const {
  const Index r = outputs_;
  const double n = frames();
  const bool independent = kind_ == Kind::gradient || n < few_frames(r);
  e.s.head(r) = sums_.s.head(r) / n;
  for (Index j = 0; j < r; ++j) {
    const double mean = v_sum_(j) / n;
    e.S.col(j).head(r) = S_.col(j).head(r) / n - v_sum_.head(r) * (mean / n);
    e.T.col(j).head(r) = sums_.T.col(j).head(r) / n - sums_.t.head(r) * (mean / n);
    if (independent) {
      e.D.col(j).head(r) = e.s.head(r) * e.S(j, j);
    } else {
      e.D.col(j).head(r) = sums_.D.col(j).head(r) / n;
    }
  }
}

bool ReservoirPass::has_gradient(const Vector<double>& k) const {
  double sum = 0;
  double largest = 0;
  for (Index j = 0; j < outputs_; ++j) {
    for (Index i = 0; i < j; ++i) {
      const double gradient = k(i) * sums_.T(i, j) - k(j) * sums_.T(j, i);
      const double variance = square_(i, j) + square_(j, i) - 2 * k(i) * k(j) * crossed_(i, j);
      const double z2 = variance > 0 ? gradient * gradient / variance : 0;
      sum += z2;
      largest = std::max(largest, z2);
    }
  }
  const double pairs = std::max(1.0, static_cast<double>(outputs_ * (outputs_ - 1)) / 2);
  return !(sum / pairs <= 1.5 + 3 * std::sqrt(2 / pairs)) || !(largest <= 25);
}

}  // namespace demix
