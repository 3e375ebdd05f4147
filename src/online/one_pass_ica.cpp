#include "online/one_pass_ica.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace demix {
namespace {

constexpr double growth_of_newton = 1.03;  // of the count from step to step
constexpr double growth_of_check = 1.5;

// The search
constexpr int first_iterations = 20;  // one pass right after the other
constexpr int most_iterations = 40;
constexpr double near = 0.25;            // length of a row of E from which on Newton steps converge
constexpr double at_rest = 0.02;         // length of a row of E below which the sums can move along with it,
constexpr double slow = 0.1;             // or below this, if it shrinks no more
constexpr double calm = 0.05;            // or, of few frames, after which a pass can wait for
constexpr double growth_if_calm = 0.01;  // so many more

// Multiplications in one step, or one piece if that is more
double budget(Index channels) { return std::min(8e4 * static_cast<double>(channels), 6e6); }

void set_identity(Matrix<double>& A, Index n) {
  A.setZero();
  A.topLeftCorner(n, n).setIdentity();
}

}  // namespace

OnePassIca::OnePassIca(Index channels, Index components, double resolution, double memory, std::uint64_t seed)
    : components_(components),
      memory_(memory),
      white_(channels, resolution, memory),
      reservoir_(channels, Reservoir::places_for(channels, memory), memory, seed),
      pass_(channels),
      sums_(channels),
      found_(channels),
      fourth_(Vector<double>::Zero(channels)),
      expected_(channels),
      step_(channels),
      root_(channels),
      svd_(channels, channels),
      A_(padded_square(channels)),
      A_inverse_(A_),
      work_(A_),
      zero_(fourth_) {}

void OnePassIca::clear() {
  white_.clear();
  reservoir_.clear();
  pass_.clear();
  sums_.clear();
  found_.clear();
  add_ = Add::none;
  stage_ = Stage::idle;
  summing_ = false;
  add_at_ = remembered_ = outputs_ = 0;
  check_ = newton_ = {};
  next_pass_ = 0;
}

void OnePassIca::loaded() const {
  require_state(add_ >= Add::none && add_ <= Add::sum, "no such way to add");
  require_state(stage_ >= Stage::idle && stage_ <= Stage::move, "no such stage of the work");
  require_state((add_ == Add::place) == white_.busy(), "work that was not begun");
  require_state(add_at_ >= 0 && add_at_ <= white_.coordinates().cols(), "a frame out of range");
  require_state(remembered_ >= 0 && remembered_ <= reservoir_.size(), "a frame of the sample out of range");
  require_state(outputs_ >= 0 && outputs_ <= white_.live(), "more outputs than live directions");
  require_state(components_ == 0 || (outputs_ <= components_ && rank() <= components_),
                "more components than outputs");
  require_state(next_pass_ >= 0 && next_pass_ < std::int64_t{1} << 62, "a count out of range");
  require_state(iterations_ >= 0 && iterations_ < 1 << 20, "more passes than a search has");
  require_state(count() > 0 || (stage_ == Stage::idle && rank() == 0 && add_ != Add::sum && !summing_),
                "a solution of no frames");
  require_state((stage_ == Stage::idle && !found_.busy()) || outputs_ > 0, "work on no outputs");
  require_state(pass_.end() <= reservoir_.size() && pass_.outputs() <= channels(), "a pass out of range");
  require_state((stage_ != Stage::pass && stage_ != Stage::judge) || pass_.outputs() == outputs_,
                "a pass of other outputs");
  require_state(stage_ != Stage::pass || !pass_.done(), "a pass that is over");
  require_state(stage_ != Stage::judge || pass_.frames() > 0, "a pass over no frames");
  require_state(stage_ != Stage::turn || root_.size() == outputs_, "a turn of other outputs");
  require_state(summing_ || (stage_ != Stage::newton && add_ != Add::sum), "a step from no sums");
}

// Everything is at hand, and there is little of it: what is found changes with every frame.
bool OnePassIca::few() const {
  return reservoir_.complete() &&
         static_cast<double>(reservoir_.seen()) < ReservoirPass::few_frames(outputs_);
}

void OnePassIca::remember(const Eigen::Ref<const Vector<double>>& x) {
  reservoir_.add(x);
  if (outputs_ > 0 && !summing_ && !busy() && reservoir_.seen() >= next_pass_) begin_pass();
}

void OnePassIca::begin_add(const Frames<double>& X) {
  remembered_ = reservoir_.size();
  white_.begin_add(X);
  add_ = Add::place;
}

bool OnePassIca::work() {
  bool news = false;
  const double most = budget(channels());
  for (double spent = 0; busy() && spent < most;) spent += piece(news);
  return news;
}

double OnePassIca::piece(bool& news) {
  const auto r = static_cast<double>(outputs_);
  const double cube = static_cast<double>(channels()) * r * r;
  if (add_ == Add::place) {
    const double cost = white_.work();
    if (!white_.busy()) added();
    return cost;
  }
  if (add_ == Add::sum) {
    add_piece();
    return 2 * TanhSums::at_once * r * r;
  }
  if (found_.busy()) {
    news |= found_.work(white_);
    return found_.cost();
  }
  switch (stage_) {
    case Stage::idle:
      return 1;
    case Stage::principal:
      if (svd_.work()) principal();
      return svd_.cost();
    case Stage::pass:
      if (pass_.work(reservoir_, white_)) stage_ = Stage::judge;
      return pass_.cost();
    case Stage::judge:
      judge();
      return 2 * cube;
    case Stage::turn:
      if (root_.work()) turn();
      return root_.cost();
    case Stage::newton:
      newton();
      return 5 * cube;
    case Stage::move:
      move();
      return 4 * cube;
  }
  return 0;
}

// The block is in the covariance.
void OnePassIca::added() {
  const auto frames = static_cast<double>(white_.coordinates().cols());
  check_.since += frames;
  newton_.since += frames;
  add_at_ = 0;
  add_ = Add::none;
  const Index most = components_ > 0 ? std::min(components_, white_.live()) : white_.live();
  if (white_.moved() || most != outputs_) {  // what was summed belongs to other coordinates
    outputs_ = most;
    summing_ = false;
    stage_ = Stage::idle;
    if (outputs_ == 0) return;
    publish();  // white at once
    return begin_search();
  }
  if (summing_) {
    sums_.scale(white_.keep());
    add_ = Add::sum;
  } else if (outputs_ > 0 && newton_due()) {
    publish();
  }
}

void OnePassIca::add_piece() {
  const Index size = std::min(TanhSums::at_once, white_.coordinates().cols() - add_at_);
  sums_.add(white_.coordinates().middleCols(add_at_, size), outputs_);
  add_at_ += size;
  if (add_at_ < white_.coordinates().cols()) return;
  add_ = Add::none;
  if (stage_ != Stage::idle) {  // the coordinates stand still, but the covariance goes on
    if (newton_due()) publish();
  } else if (check_due()) {
    begin_check();
  } else if (newton_due()) {
    stage_ = Stage::newton;
  }
}

// When the past fades, at least 64 times within one memory.
bool OnePassIca::newton_due() const {
  const double frames = std::max(memory_ / 64, static_cast<double>(channels()));
  return newton_.reached(count(), memory_ > 0 ? frames : 1e300);
}
bool OnePassIca::check_due() const { return check_.reached(count(), memory_ > 0 ? memory_ / 2 : 1e300); }

// Of sums that should describe the past; while all of it is at hand they are made anew.
void OnePassIca::begin_check() {
  if (!summing_ || reservoir_.complete()) return begin_search();
  pass_.begin(ReservoirPass::Kind::check, white_, outputs_, remembered_);
  stage_ = Stage::pass;
}

void OnePassIca::begin_search() {
  summing_ = false;
  iterations_ = 0;
  left_ = 1e300;
  if (components_ == 0 || components_ >= white_.live()) return begin_pass();
  // Principal components in the channels' own units. C = L L^T, V^-1 L = . diag Q^T, h = Q^T L^-1 u
  const Index l = white_.live();
  white_.covariance(l, A_);
  cholesky(A_, l, 1e-300);
  work_.setZero();
  product(white_.V_inverse(), A_, channels(), l, l, work_);
  svd_.begin(work_.topRows(channels()));
  stage_ = Stage::principal;
}

void OnePassIca::principal() {
  const Index n = channels();
  const Index l = white_.live();
  Matrix<double>& L = expected_.S;
  Matrix<double>& Q = expected_.T;  // transposed
  white_.covariance(l, L);
  cholesky(L, l, 1e-300);
  work_ = L;
  stage_ = Stage::idle;
  if (!invert(work_, l, A_inverse_)) return;
  for (Index i = 0; i < l; ++i) Q.row(i).head(l) = svd_.vector(i).head(l).transpose();
  set_identity(A_, n);
  product(Q, A_inverse_, l, l, l, A_);
  set_identity(A_inverse_, n);
  product_transposed(L, Q, l, l, l, A_inverse_);
  zero_ = white_.mean();
  white_.transform(A_, A_inverse_, zero_);
  begin_pass();
}

// Sums that go on from those of the pass must be of the same frames.
void OnePassIca::begin_pass() {
  ++iterations_;
  if (few()) {
    pass_.begin(ReservoirPass::Kind::gradient, white_, outputs_, reservoir_.size());
    if (!precise_) iterations_ = std::min(iterations_, first_iterations);
  } else {
    pass_.begin(ReservoirPass::Kind::newton, white_, outputs_, remembered_);
  }
  stage_ = Stage::pass;
}

// After a pass.
void OnePassIca::judge() {
  const Index r = outputs_;
  if (pass_.kind() == ReservoirPass::Kind::check) {
    sums_.expectations(white_, r, expected_);
    step_.signs(expected_, r);
    if (pass_.has_gradient(step_.k)) return begin_search();
    check_.again(count(), growth_of_check);
    stage_ = Stage::newton;
    return;
  }
  pass_.expectations(expected_);
  if (!(expected_.S.diagonal().head(r).maxCoeff() <= 16)) {
    // Frames far larger than others are not in the covariance yet, or too many are in the sample: no step.
    next_pass_ = reservoir_.seen() + white_.block();
    stage_ = Stage::idle;
    return;
  }
  step_.solve(expected_, r);
  fourth_.head(r) = pass_.sums().fourth.head(r) / pass_.frames();
  const double left = step_.E.topLeftCorner(r, r).rowwise().norm().maxCoeff();
  const bool slows = left < slow && left > 0.7 * left_;
  const bool small = precise_ ? left < 1e-10 : left < at_rest || slows;
  const double noise = std::max(NewtonStep::least, 3 / std::sqrt(pass_.frames()));  // of a curvature
  const bool content = iterations_ >= most_iterations || (small && !step_.at_saddle(expected_, r, noise));
  left_ = left;
  next_pass_ = reservoir_.seen();
  if (pass_.kind() == ReservoirPass::Kind::newton) {
    if (content) return begin_sums();
  } else if (precise_ ? content : iterations_ >= first_iterations) {
    const Index rest = left < calm ? static_cast<Index>(growth_if_calm * pass_.frames()) : 0;
    next_pass_ += std::max(rest, r * r / 256 + 1);
  }
  begin_turn(pass_.kind() == ReservoirPass::Kind::newton && left < near);
}

// A <- A S A^T = I after a step of FastICA, A <- E[t u^T] S^-1 - diag(s), or near the end, where that
// converges slowly, of Newton, A <- I + (E - E^T) / 2. The rows of FastICA's are as long as they are certain.
void OnePassIca::begin_turn(bool is_near) {
  const Index r = outputs_;
  Matrix<double>& S = expected_.S;
  for (Index j = 0; j < r; ++j) S(j, j) = std::max(S(j, j), 0.1);  // what the sample hardly has is not lifted
  if (is_near) {
    for (Index j = 0; j < r; ++j) {
      A_.col(j).head(r) = (step_.E.col(j).head(r) - step_.E.row(j).head(r).transpose()) / 2;
      A_(j, j) = 1;
    }
  } else {  // S^-1 = 2 I - S, as S is nearly I
    product(expected_.T, S, r, r, r, A_);
    A_.topLeftCorner(r, r) = 2 * expected_.T.topLeftCorner(r, r) - A_.topLeftCorner(r, r);
    A_.diagonal().head(r) -= expected_.s.head(r);
    for (Index i = 0; i < r; ++i) {
      if (A_(i, i) < 0) A_.row(i).head(r) *= -1;
    }
  }
  product(A_, S, r, r, r, work_);
  product_transposed(work_, A_, r, r, r, A_inverse_);
  root_.begin(A_inverse_, r);
  stage_ = Stage::turn;
}

// Since A S A^T = I, A^-1 = S A^T but for rounding, which one step of X <- X + X (I - A X) takes away.
void OnePassIca::turn() {
  const Index r = outputs_;
  Matrix<double>& G = expected_.T;
  product(root_.result(), A_, r, r, r, work_);
  set_identity(A_, channels());
  A_.topLeftCorner(r, r) = work_.topLeftCorner(r, r);
  product_transposed(expected_.S, A_, r, r, r, work_);
  product(A_, work_, r, r, r, G);
  G.topLeftCorner(r, r) *= -1;
  G.diagonal().head(r).array() += 1;
  set_identity(A_inverse_, channels());
  product(work_, G, r, r, r, A_inverse_);
  A_inverse_.topLeftCorner(r, r) += work_.topLeftCorner(r, r);
  zero_ = pass_.centre();
  stage_ = Stage::move;
}

// The sums begin as those of the pass, once it has come to all frames there are.
void OnePassIca::begin_sums() {
  pass_.extend(remembered_);
  stage_ = Stage::pass;
  if (!pass_.done()) return;
  white_.recentre(pass_.centre());
  sums_.begin(pass_, white_, outputs_);
  summing_ = true;
  check_.again(count(), growth_of_check);
  stage_ = Stage::newton;
}

// A step from the sums, which move along.
void OnePassIca::newton() {
  const Index n = channels();
  const Index r = outputs_;
  const bool searched = std::exchange(iterations_, 0) > 0;  // no step since
  sums_.expectations(white_, r, expected_);
  const bool close = expected_.off_white(r) <= 1;  // if not, too far for a step of first order
  if (close) {
    step_.solve(expected_, r);
    set_identity(A_, n);
    A_.topLeftCorner(r, r) += step_.E.topLeftCorner(r, r);
    work_ = A_;
  }
  if (!close || !invert(work_, n, A_inverse_)) {
    publish();
    stage_ = Stage::idle;
    if (!searched) begin_search();  // what a search has just come to, another would come to again, for ever
    return;
  }
  zero_ = white_.mean();
  sums_.move(A_, zero_, r);
  for (Index i = 0; i < r; ++i) fourth_(i) = sums_.fourth(i) / count();
  stage_ = Stage::move;
}

void OnePassIca::move() {
  white_.transform(A_, A_inverse_, zero_);
  publish();
  stage_ = Stage::idle;
  if (!summing_ && reservoir_.seen() >= next_pass_) begin_pass();
}

void OnePassIca::publish() {
  newton_.again(count(), growth_of_newton);
  found_.begin(white_, outputs_);
}

void OnePassIca::finish() {
  while (busy()) work();
  if (count() == 0 || outputs_ == 0) return;
  precise_ = reservoir_.complete();
  begin_check();
  for (int steps = 0; steps < 4; ++steps) {
    while (busy()) work();
    if (!summing_) break;
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
