#include "online/one_pass_ica.hpp"

#include <algorithm>
#include <cmath>

namespace demix {
namespace {

constexpr double budget = 8e4;  // multiplications per channel in one step, or one piece if that is more
constexpr double growth_of_newton = 1.03;

}  // namespace

OnePassIca::OnePassIca(Index channels, Index components, double resolution, double memory, std::uint64_t seed)
    : components_(components),
      memory_(memory),
      white_(channels, resolution, memory),
      reservoir_(channels, Reservoir::places_for(channels, memory), memory, seed),
      sums_(channels),
      sample_(channels),
      root_(channels),
      svd_(channels, channels),
      step_(channels),
      output_root_(channels) {
  const Index n = channels;
  apart_ = B_ = P_ = S_ = square_ = crossed_ = M_ = unmixing_ = mixing_ = A_ = A_inverse_ = work_ =
      padded_square(n);
  apart_mean_ = c_ = centre_ = u_ = mean_ = zero_ = Vector<double>::Zero(n);
  frames_ = Matrix<double>::Zero(n, TanhSums::at_once);
  v_ = tv_ = Matrix<double>::Zero(B_.rows(), TanhSums::at_once);
}

void OnePassIca::clear() {
  white_.clear();
  reservoir_.clear();
  sums_.clear();
  add_ = Add::none;
  stage_ = Stage::idle;
  fresh_ = publishing_ = false;
  since_check_ = next_check_ = since_newton_ = next_newton_ = 0;
  rank_ = outputs_ = 0;
  add_at_ = at_ = end_ = 0;
}

void OnePassIca::loaded() const {
  const auto is_count = [](double v) { return v >= 0 && v < 0x1p62; };
  require_state(add_ >= Add::none && add_ <= Add::sum, "no such way to add");
  require_state(stage_ >= Stage::idle && stage_ <= Stage::newton, "no such stage of the work");
  require_state((add_ == Add::place) == white_.busy(), "work that was not begun");
  require_state(add_at_ >= 0 && add_at_ <= white_.coordinates().cols(), "a frame out of range");
  require_state(at_ >= 0 && at_ <= end_ && end_ <= reservoir_.size(), "a frame of the sample out of range");
  require_state(outputs_ >= 0 && outputs_ <= white_.live(), "more outputs than live directions");
  require_state(rank_ >= 0 && rank_ <= (components_ > 0 ? components_ : channels()),
                "more components than outputs");
  require_state(is_count(since_check_) && is_count(next_check_) && is_count(since_newton_) &&
                    is_count(next_newton_) && is_count(sampled_) && iterations_ >= 0,
                "a count out of range");
  require_state(count() > 0 || (stage_ == Stage::idle && rank_ == 0 && add_ != Add::sum),
                "a solution of no frames");
  require_state(stage_ == Stage::idle || stage_ == Stage::pass || stage_ == Stage::principal ||
                    sampled_ > 0 || stage_ == Stage::newton,
                "a pass over no frames");
  require_state((stage_ == Stage::idle && !publishing_) || outputs_ > 0, "work on no outputs");
}

void OnePassIca::begin_add(const Frames<double>& X) {
  for (Index t = 0; t < X.cols(); ++t) reservoir_.add(X.col(t));
  white_.begin_add(X);
  add_ = Add::place;
}

bool OnePassIca::work() {
  bool news = false;
  const double most = budget * static_cast<double>(channels());
  for (double spent = 0; busy() && spent < most;) spent += piece(news);
  return news;
}

double OnePassIca::piece(bool& news) {
  const auto r = static_cast<double>(outputs_);
  if (add_ == Add::place) {
    const double cost = white_.work();
    if (!white_.busy()) added();
    return cost;
  }
  if (add_ == Add::sum) {
    add_piece();
    return 2 * TanhSums::at_once * r * r;
  }
  if (publishing_) {
    if (output_root_.work()) {
      publish();
      news = true;
    }
    return output_root_.cost();
  }
  const double cube = static_cast<double>(channels()) * r * r;
  switch (stage_) {
    case Stage::idle:
      return 1;
    case Stage::principal:
      if (svd_.work()) principal();
      return svd_.cost();
    case Stage::pass:
      pass();
      return TanhSums::at_once * (4 * r * r + 20 * r);
    case Stage::judge:
      judge();
      return cube;
    case Stage::whiten:
      if (root_.work()) {
        product(root_.result(), B_, outputs_, outputs_, outputs_, work_);
        B_.swap(work_);
        begin_pass();
      }
      return root_.cost();
    case Stage::turn:
      if (root_.work()) turn();
      return root_.cost();
    case Stage::adopt:
      adopt();
      return 8 * cube;
    case Stage::newton:
      newton();
      return 8 * cube;
  }
  return 0;
}

// The block is in the covariance.
void OnePassIca::added() {
  const auto frames = static_cast<double>(white_.coordinates().cols());
  since_check_ += frames;
  since_newton_ += frames;
  add_at_ = 0;
  const Index most = components_ > 0 ? std::min(components_, white_.live()) : white_.live();
  if (white_.moved() || most != outputs_) {  // what was summed belongs to other coordinates
    const bool same = most == outputs_ && stage_ != Stage::idle;  // what was begun goes on
    outputs_ = most;
    if (!same) reset_start();
    fresh_ = false;
    add_ = Add::none;
    stage_ = Stage::idle;
    if (outputs_ == 0) return;
    begin_publish();  // white at once
    return restart();
  }
  add_ = outputs_ > 0 && fresh_ ? Add::sum : Add::none;
  if (!fresh_) {
    if (outputs_ > 0 && stage_ == Stage::idle) begin_check();
    if (outputs_ > 0 && due_newton()) begin_publish();
    return;
  }
  sums_.scale(white_.keep());
  apart_ *= white_.keep();
  apart_mean_ *= white_.keep();
}

void OnePassIca::add_piece() {
  const Index size = std::min(TanhSums::at_once, white_.coordinates().cols() - add_at_);
  sums_.add(white_.coordinates().middleCols(add_at_, size), outputs_);
  add_at_ += size;
  if (add_at_ < white_.coordinates().cols()) return;
  add_ = Add::none;
  if (stage_ != Stage::idle) {  // the coordinates stand still, but the covariance goes on
    if (due_newton()) begin_publish();
    return;
  }
  const bool steady = memory_ > 0 && count() > 0.6 * memory_;
  if (steady ? since_check_ >= memory_ / 2 : count() >= next_check_) {
    begin_check();
  } else if (due_newton()) {
    stage_ = Stage::newton;
  }
}

// At counts that grow by a twentieth; when the past fades, at least 64 times within one memory.
bool OnePassIca::due_newton() const {
  if (count() >= next_newton_) return true;
  return memory_ > 0 && since_newton_ >= std::max(memory_ / 64, static_cast<double>(channels()));
}

// One Newton step from the sums, which move along.
void OnePassIca::newton() {
  const Index n = channels();
  const Index r = outputs_;
  const double frames = count();
  stage_ = Stage::idle;
  // Expectations, centred: M <- S, work <- T, A <- D
  const auto m = white_.mean().head(r);
  const auto a = apart_mean_.head(r);
  zero_.head(r) = m + a / frames;
  double off = 0;
  for (Index j = 0; j < r; ++j) {
    M_.col(j).head(r) = (white_.scatter().col(j).head(r) + apart_.col(j).head(r)) / frames -
                        (m * a(j) + a * (m(j) + a(j) / frames)) / frames;
    work_.col(j).head(r) = sums_.T.col(j).head(r) / frames - sums_.t.head(r) * (zero_(j) / frames);
    A_.col(j).head(r) = sums_.D.col(j).head(r) / frames;
    off = std::max(off, M_.col(j).head(r).cwiseAbs().sum() - std::abs(M_(j, j)) + std::abs(M_(j, j) - 1));
  }
  if (!(off <= 1)) {  // too far for a step of first order
    begin_publish();
    fresh_ = false;
    return begin_check();
  }
  for (Index i = 0; i < r; ++i) step_.k(i) = sums_.s(i) / frames * M_(i, i) - work_(i, i) < 0 ? -1 : 1;
  step_.solve(M_, work_, A_, r);

  // T <- (T - t mean^T) A^T + E o D,  t <- t - s o mean
  zero_ = white_.mean();
  for (Index j = 0; j < r; ++j) sums_.T.col(j).head(r) -= sums_.t.head(r) * zero_(j);
  sums_.t.head(r) -= sums_.s.head(r).cwiseProduct(zero_.head(r));
  sums_.fourth.head(r).array() *= (1 + step_.E.diagonal().head(r).array()).square().square();
  A_.setZero();
  A_.topLeftCorner(n, n).setIdentity();
  A_.topLeftCorner(r, r) += step_.E.topLeftCorner(r, r);
  product_transposed(sums_.T, A_, r, r, r, work_);
  sums_.T.topLeftCorner(r, r) =
      work_.topLeftCorner(r, r) + step_.E.topLeftCorner(r, r).cwiseProduct(sums_.D.topLeftCorner(r, r));
  // apart <- A (apart - mean apart_mean^T - apart_mean mean^T) A^T
  for (Index j = 0; j < r; ++j) {
    apart_.col(j).head(r) -= zero_.head(r) * apart_mean_(j) + apart_mean_.head(r) * zero_(j);
  }
  transform_symmetric(A_, r, apart_, work_);
  for (Index i = 0; i < r; ++i) c_(i) = A_.row(i).head(r).dot(apart_mean_.head(r));
  apart_mean_.head(r) = c_.head(r);
  work_ = A_;
  if (!invert(work_, n, A_inverse_)) {
    fresh_ = false;
    return begin_check();
  }
  white_.transform(A_, A_inverse_, zero_);
  begin_publish();
}

void OnePassIca::begin_publish() {
  since_newton_ = 0;
  next_newton_ = growth_of_newton * count();
  white_.covariance(outputs_, A_);
  output_root_.begin(A_, outputs_);
  publishing_ = true;
}

// y = C^-1/2 u of the exact covariance, each positive on the channel where it is strongest:
// E[x y^T] = V^-1 E[u y^T] says where, in units of the channels' deviations, which are the norms of its rows.
void OnePassIca::publish() {
  const Index n = channels();
  const Index r = outputs_;
  rank_ = r;
  publishing_ = false;
  white_.covariance(n, work_);
  product(work_, output_root_.result(), n, r, r, A_);
  product(white_.V_inverse(), A_, n, r, n, mixing_);
  product(output_root_.result(), white_.V(), r, n, r, unmixing_);
  white_.channel_mean(mean_);
  for (Index c = 0; c < n; ++c) zero_(c) = mixing_.row(c).head(r).norm();
  for (Index k = 0; k < r; ++k) {
    Index strongest = 0;
    double most = -1;
    for (Index c = 0; c < n; ++c) {
      const double share = zero_(c) > 0 ? std::abs(mixing_(c, k)) / zero_(c) : 0;
      if (share > most) {
        most = share;
        strongest = c;
      }
    }
    if (mixing_(strongest, k) >= 0) continue;
    mixing_.col(k) *= -1;
    unmixing_.row(k).head(n) *= -1;
  }
}

void OnePassIca::finish() {
  while (busy()) work();
  if (count() == 0 || outputs_ == 0) return;
  precise_ = reservoir_.complete();
  begin_check();
  for (int steps = 0; steps < 4; ++steps) {
    while (busy()) work();
    if (!fresh_) break;
    stage_ = Stage::newton;
  }
  while (busy()) work();
  precise_ = false;
}

Matrix<double> OnePassIca::mixing_of(const Matrix<double>& U) const {
  const Index n = channels();
  Matrix<double> C = padded_square(n);
  white_.covariance(n, C);
  const Matrix<double> V_inverse = white_.V_inverse().topRows(n);
  return V_inverse * C.topRows(n) * (U * V_inverse).transpose();
}

Matrix<double> OnePassIca::channel_root() const {
  const Index n = channels();
  Matrix<double> C = padded_square(n);
  white_.covariance(n, C);
  cholesky(C, n, 1e-300);
  return white_.V_inverse().topRows(n) * C.topRows(n);
}

}  // namespace demix
