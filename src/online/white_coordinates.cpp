#include "online/white_coordinates.hpp"

#include <Eigen/Householder>

#include <algorithm>
#include <cmath>
#include <limits>

namespace demix {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();
constexpr Index at_once = 64;  // frames placed in one piece

}  // namespace

Index WhiteCoordinates::block_for(Index channels) {
  if (channels <= 16) return 64;
  return std::max<Index>(256, (4 * channels + 63) / 64 * 64);
}

WhiteCoordinates::WhiteCoordinates(Index channels, double resolution, double memory)
    : level_(std::max(100 * eps, 10 * std::sqrt(static_cast<double>(channels) / 12) * resolution)),
      memory_(memory),
      svd_(channels, channels),
      root_(channels) {
  const Index n = channels;
  const Index block = block_for(n);
  origin_ = v0_ = mean_ = new_mean_ = offset_ = new_offset_ = largest_ = scale_ = noise_ = work_ = zero_ =
      Vector<double>::Zero(n);
  V_ = V_inverse_ = scatter_ = new_scatter_ = W_ = W_inverse_ = square_ = product_ = padded_square(n);
  X_ = Matrix<double>::Zero(n, block);
  u_ = Matrix<double>::Zero(V_.rows(), block);
  centred_ = Matrix<double>::Zero(V_.rows(), at_once);
  rows_ = Matrix<double>::Zero(n + block + 1, n);
}

void WhiteCoordinates::clear() {
  stage_ = Stage::idle;
  based_ = moved_ = false;
  count_ = next_ratio_ = 0;
  live_ = 0;
  for (Vector<double>* v : {&v0_, &mean_, &offset_, &largest_}) v->setZero();
  scatter_.setZero();
}

bool WhiteCoordinates::finite() const {
  return mean_.allFinite() && scatter_.allFinite() && V_.allFinite() && V_inverse_.allFinite();
}

void WhiteCoordinates::loaded() const {
  const Index n = channels();
  const auto is_count = [](double v) { return v >= 0 && v < 0x1p62; };
  require_state(stage_ >= Stage::idle && stage_ <= Stage::turn, "no such stage of the work");
  require_state(frames_ >= 0 && frames_ <= block(), "more frames than a block");
  require_state(at_ >= 0 && at_ <= (stage_ == Stage::triangle ? n : frames_), "a piece out of range");
  require_state(live_ >= 0 && live_ <= n, "more live directions than channels");
  require_state(is_count(count_) && is_count(new_count_) && is_count(next_ratio_), "a count out of range");
  require_state(keep_ > 0 && keep_ <= 1, "a share to keep out of range");
  require_state(!busy() || (frames_ > 0 && new_count_ > 0), "a block without frames");
  require_state(based_ || (stage_ != Stage::place && stage_ != Stage::check && count_ == 0),
                "coordinates that are not there yet");
  require_state(stage_ != Stage::turn || (based_ && live_ > 0 && root_.size() == live_),
                "a turn of other directions");
}

void WhiteCoordinates::begin_add(const Frames<double>& X) {
  frames_ = X.cols();
  X_.leftCols(frames_) = X;
  keep_ = memory_ > 0 ? std::exp(-static_cast<double>(frames_) / memory_) : 1;
  largest_ = (keep_ * largest_).cwiseMax(X.cwiseAbs().rowwise().maxCoeff());
  new_count_ = keep_ * count_ + static_cast<double>(frames_);
  moved_ = false;
  if (!based_) origin_ = X.rowwise().mean();
  work_ = X.rowwise().mean() - origin_ - offset_;
  new_offset_ = offset_ + work_ * (static_cast<double>(frames_) / new_count_);
  if (based_) {
    begin_place();
  } else {
    next(Stage::rows);
  }
}

double WhiteCoordinates::work() {
  const auto n = static_cast<double>(channels());
  switch (stage_) {
    case Stage::idle:
      return 1;
    case Stage::place:
      return place();
    case Stage::check:
      if (!fits()) {
        next(Stage::rows);
        return n * n * n;
      }
      count_ = new_count_;
      mean_ = new_mean_;
      offset_ = new_offset_;
      scatter_ = new_scatter_;
      next(Stage::idle);
      return n * n * n;
    case Stage::rows:
      fill_rows();
      next(Stage::triangle);
      return n * n * n;
    case Stage::triangle:
      return triangle();
    case Stage::svd:
      if (svd_.work()) next(Stage::move);
      return svd_.cost();
    case Stage::move:
      move();
      return n * n * n;
    case Stage::turn:
      if (root_.work()) turn();
      return root_.cost();
  }
  return 0;
}

void WhiteCoordinates::begin_place() {
  new_mean_.setZero();
  new_scatter_ = keep_ * scatter_;
  next(Stage::place);
}

// Some frames of the block: u <- V (x - origin) - v0, and the sums of u - mean with them
double WhiteCoordinates::place() {
  const Index n = channels();
  const Index size = std::min(at_once, frames_ - at_);
  centred_.topLeftCorner(n, size) = X_.middleCols(at_, size).colwise() - origin_;
  for (Index t = at_; t < at_ + size; ++t) u_.col(t).head(n) = -v0_;
  kernels::multiply_add(V_.data(), V_.rows(), centred_.data(), centred_.rows(), 1, n, size, n, &u_(0, at_),
                        u_.rows());
  for (Index t = 0; t < size; ++t) {
    centred_.col(t).head(n) = u_.col(at_ + t).head(n) - mean_;
    new_mean_ += centred_.col(t).head(n);
  }
  kernels::multiply_add(centred_.data(), centred_.rows(), centred_.data(), 1, centred_.rows(), n, n, size,
                        new_scatter_.data(), new_scatter_.rows());
  at_ += size;
  if (at_ == frames_) {  // about the new mean
    new_mean_ /= new_count_;
    for (Index j = 0; j < n; ++j) new_scatter_.col(j).head(n) -= (new_count_ * new_mean_(j)) * new_mean_;
    new_mean_ += mean_;
    next(Stage::check);
  }
  return 2 * static_cast<double>(size * n * n);
}

// What rounding of the data alone would leave in each coordinate (in each channel, before there are
// coordinates).
void WhiteCoordinates::measure_noise() {
  if (!based_) {
    noise_ = level_ * largest_;
    return;
  }
  noise_.setZero();
  for (Index c = 0; c < channels(); ++c) {
    noise_ += (level_ * largest_(c)) * V_.col(c).head(channels()).cwiseAbs();
  }
}

// Are all live directions of the same size in these coordinates, give or take, and the others still without
// power?
bool WhiteCoordinates::fits() {
  if (moved_) return true;  // they were made for it
  const Index n = channels();
  measure_noise();
  for (Index k = live_; k < n; ++k) {
    if (new_scatter_(k, k) > new_count_ * noise_(k) * noise_(k)) return false;
  }
  if (!(new_mean_.squaredNorm() <= 16 * static_cast<double>(n))) return false;
  for (Index j = 0; j < live_; ++j) {
    square_.col(j).head(live_) = new_scatter_.col(j).head(live_) / new_count_;
    if (!(square_.col(j).head(live_).cwiseAbs().sum() <= 16)) return false;
  }
  if (new_count_ < next_ratio_ || live_ == 0 || cholesky(square_, live_) >= 1.0 / 64) return true;
  next_ratio_ = 1.5 * new_count_;  // a direction too weak to be lifted must not be tried with every block
  return false;
}

// rows <- what has the scatter of all frames so far, in units of each coordinate's deviation: the block, the
// root of the past, the distance of their means
void WhiteCoordinates::fill_rows() {
  const Index n = channels();
  const auto frames = static_cast<double>(frames_);
  Index size = frames_;
  if (!based_) {
    for (Index j = 0; j < n; ++j) rows_.col(j).head(size) = X_.row(j).head(size).array() - origin_(j);
  } else {
    for (Index j = 0; j < n; ++j) {
      work_(j) = u_.row(j).head(size).mean();
      rows_.col(j).head(size) = u_.row(j).head(size).array() - work_(j);
    }
    const double before = keep_ * count_;
    rows_.row(size + n) = std::sqrt(before * frames / new_count_) * (work_ - mean_).transpose();
    covariance(n, square_);
    work_ = square_.diagonal().head(n).cwiseMax(0).cwiseSqrt();
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        square_(i, j) = work_(i) > 0 && work_(j) > 0 ? square_(i, j) / work_(i) / work_(j) : 0;
      }
    }
    cholesky(square_, n, 1e-15);
    for (Index j = 0; j < n; ++j) {
      rows_.col(j).segment(size, n) = (std::sqrt(before) * work_(j)) * square_.row(j).head(n).transpose();
    }
    size += n + 1;
  }
  auto S = rows_.topRows(size);
  measure_noise();
  scale_ = (S.colwise().squaredNorm() / new_count_).cwiseSqrt().transpose();
  const double usual = based_ || !(scale_.maxCoeff() > 0) ? 1 : scale_.maxCoeff();
  for (Index j = 0; j < n; ++j) {
    if (!(scale_(j) > noise_(j))) scale_(j) = usual;  // rounding is not made larger
    S.col(j) /= scale_(j);
  }
}

// rows <- R, upper triangular with the same scatter: some columns of Householder's QR
double WhiteCoordinates::triangle() {
  const Index n = channels();
  const Index size = based_ ? frames_ + n + 1 : frames_;
  double cost = 0;
  for (; at_ < n && at_ + 1 < size && cost < 3e5; ++at_) {
    auto column = rows_.col(at_).segment(at_, size - at_);
    double tau = 0;
    double beta = 0;
    column.makeHouseholderInPlace(tau, beta);
    column(0) = 1;
    for (Index j = at_ + 1; j < n; ++j) {
      auto other = rows_.col(j).segment(at_, size - at_);
      other -= (tau * column.dot(other)) * column;
    }
    column.setZero();
    column(0) = beta;
    cost += 2 * static_cast<double>((size - at_) * (n - at_));
  }
  if (at_ < n && at_ + 1 < size) return cost;
  square_.topRows(n) = rows_.topRows(n).triangularView<Eigen::Upper>();
  if (size < n) square_.middleRows(size, n - size).setZero();
  svd_.begin(square_.topRows(n));
  next(Stage::svd);
  return cost;
}

// W: white again, along principal axes so that a direction without power stays by itself
void WhiteCoordinates::move() {
  const Index n = channels();
  const double root = std::sqrt(new_count_);
  work_ = noise_.cwiseQuotient(scale_);
  const auto is_live = [&](Index i) {
    return svd_.value(i) / root >
           std::max(svd_.vector(i).cwiseAbs().dot(work_), 1e-14 * svd_.value(0) / root);
  };
  live_ = 0;
  for (Index i = 0; i < n; ++i) live_ += is_live(i);
  Index next_live = 0;
  Index next_other = live_;
  for (Index i = 0; i < n; ++i) {  // what has no power above rounding is not lifted
    const Index row = is_live(i) ? next_live++ : next_other++;
    const double size = row < live_ ? svd_.value(i) / root : 1;
    W_.row(row).head(n) = svd_.vector(i).transpose().cwiseQuotient(scale_.transpose()) / size;
    W_inverse_.col(row).head(n) = scale_.cwiseProduct(svd_.vector(i)) * size;
  }
  next(Stage::turn);
  if (!based_ || live_ == 0) return turn();
  // Turned to be closest to the old coordinates: by the orthogonal factor of W^-1, live directions only.
  const double size = W_inverse_.topLeftCorner(live_, live_).norm() + 1e-300;
  square_.topLeftCorner(live_, live_) = W_inverse_.topLeftCorner(live_, live_) / size;
  square_.diagonal().head(live_).array() += 1e-4;  // a new direction may be none of the old axes
  product_transposed(square_, square_, live_, live_, live_, product_);
  root_.begin(product_, live_);
}

void WhiteCoordinates::turn() {
  const Index n = channels();
  if (based_ && live_ > 0) {
    product(root_.result(), square_, live_, live_, live_, product_);  // O
    square_.topLeftCorner(live_, live_) = product_.topLeftCorner(live_, live_);
    product(square_, W_, live_, n, live_, product_);
    W_.topRows(live_) = product_.topRows(live_);
    product_transposed(W_inverse_, square_, n, live_, live_, product_);
    W_inverse_.topLeftCorner(n, live_) = product_.topLeftCorner(n, live_);
  }
  if (based_) {
    zero_ = new_mean_;
    transform(W_, W_inverse_, zero_);
  } else {
    based_ = true;
    V_ = W_;
    V_inverse_ = W_inverse_;
  }
  moved_ = true;
  begin_place();
}

void WhiteCoordinates::covariance(Index n, Matrix<double>& out) const {
  out.topLeftCorner(n, n) = scatter_.topLeftCorner(n, n) / count_;
}

void WhiteCoordinates::transform(const Matrix<double>& A, const Matrix<double>& A_inverse,
                                 const Vector<double>& zero) {
  const Index n = channels();
  // v0 <- A (v0 + zero),  mean <- A (mean - zero),  scatter <- A scatter A^T
  recentre(zero);
  for (Vector<double>* v : {&v0_, &mean_}) {
    work_.setZero();
    for (Index j = 0; j < n; ++j) work_ += (*v)(j)*A.col(j).head(n);
    v->swap(work_);
  }
  transform_symmetric(A, n, scatter_, product_);
  product(A, V_, n, n, n, product_);
  V_.swap(product_);
  product(V_inverse_, A_inverse, n, n, n, product_);
  V_inverse_.swap(product_);
}

}  // namespace demix
