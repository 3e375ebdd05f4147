#include "online/stream_moments.hpp"

#include <Eigen/Householder>

#include <algorithm>
#include <cmath>
#include <limits>

namespace demix {
namespace {

constexpr double eps = std::numeric_limits<double>::epsilon();

Index block_for(Index channels) {
  if (channels <= 16) return 64;
  return std::max<Index>(256, (4 * channels + 63) / 64 * 64);
}

// S <- R, upper triangular with R^T R = S^T S, in the first rows. Householder.
void triangularise(Eigen::Ref<Matrix<double>> S, Vector<double>& work) {
  const Index n = S.cols();
  for (Index j = 0; j < n && j + 1 < S.rows(); ++j) {
    auto column = S.col(j).tail(S.rows() - j);
    double tau = 0;
    double beta = 0;
    column.makeHouseholderInPlace(tau, beta);
    column(0) = beta;
    S.bottomRightCorner(S.rows() - j, n - j - 1)
        .applyHouseholderOnTheLeft(column.tail(column.size() - 1), tau, work.data());
    column.tail(column.size() - 1).setZero();
  }
}

}  // namespace

StreamMoments::StreamMoments(Index channels, Index components, double resolution, double memory)
    : components_(components),
      level_(std::max(100 * eps, 10 * std::sqrt(static_cast<double>(channels) / 12) * resolution)),
      memory_(memory),
      fourth_(std::in_place_type<WeightedScatter>, channels) {
  const Index n = channels;
  const Index block = block_for(n);
  if (n <= 16) {
    fourth_.emplace<FourthMoments<double>>(n, block);
  } else if (n <= exact_channels) {
    fourth_.emplace<FourthMoments<float>>(n, block);
  } else {
    std::get<WeightedScatter>(fourth_).reserve(block);
  }
  origin_ = v0_ = mean_ = new_mean_ = offset_ = new_offset_ = largest_ = block_mean_ = delta_ = solved_mean_ =
      scale_ = singular_ = work_ = noise_ = eig_.values = svd_.values = Vector<double>::Zero(n);
  V_ = V_inverse_ = scatter_ = new_scatter_ = W_ = W_inverse_ = P_ = rotated_ = unmixing_ = square_ =
      product_ = eig_.vectors = svd_.V = Matrix<double>::Zero(n, n);
  X_ = base_ = centred_ = Matrix<double>::Zero(n, block);
  rows_ = Matrix<double>::Zero(n + block + 1, n);
  A_ = G_ = Z_ = Matrix<double>::Zero(n + 1, n + 1);
  H_ = Matrix<double>::Zero(n, n + 1);
}

void StreamMoments::clear() {
  stage_ = Stage::idle;
  based_ = false;
  count_ = next_ratio_ = 0;
  rank_ = live_ = 0;
  for (Vector<double>* v : {&v0_, &mean_, &offset_, &largest_}) v->setZero();
  scatter_.setZero();
  std::visit([](auto& fourth) { fourth.clear(); }, fourth_);
}

void StreamMoments::begin_add(const Frames<double>& X) {
  frames_ = X.cols();
  X_.leftCols(frames_) = X;
  next(Stage::merge);
}

void StreamMoments::begin_solve() { next(Stage::whiten); }

bool StreamMoments::finite() const {
  return std::isfinite(count_) && mean_.allFinite() && scatter_.allFinite() && unmixing().allFinite() &&
         solved_mean_.allFinite();
}

Index StreamMoments::pieces() const {
  return std::visit(
      [&](const auto& fourth) -> Index {
        if constexpr (!std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>) {
          if (stage_ == Stage::transform) return fourth.transform_pieces();
          if (stage_ == Stage::add) return fourth.add_pieces();
        }
        return 1;
      },
      fourth_);
}

void StreamMoments::loaded() {
  const Index n = channels();
  const auto is_count = [](double v) { return v >= 0 && v < 0x1p62; };
  require_state(stage_ >= Stage::idle && stage_ <= Stage::rotate, "no such stage of the work");
  require_state(piece_ >= 0 && piece_ < pieces(), "a piece of the work out of range");
  require_state(frames_ >= 0 && frames_ <= block(), "more frames than a block");
  require_state(live_ >= 0 && live_ <= n, "more live directions than channels");
  require_state(rank_ >= 0 && rank_ <= (components_ > 0 ? components_ : n), "more components than outputs");
  require_state(is_count(count_) && is_count(new_count_) && is_count(next_ratio_), "a count out of range");
  require_state(keep_ > 0 && keep_ <= 1, "a share to keep out of range");
  const bool adding = busy() && !solving();
  require_state(!adding || frames_ > 0, "a block without frames");
  require_state(!adding || stage_ == Stage::merge || new_count_ > 0, "a block that does not count");
  require_state(count_ > 0 || !(solving() || rank_ > 0), "a solution of no frames");
  require_state(based_ || stage_ == Stage::idle || stage_ == Stage::merge || stage_ == Stage::triangle ||
                    stage_ == Stage::move,
                "work in coordinates that are not there yet");
  if (stage_ != Stage::add || piece_ == 0) return;
  std::visit(
      [&](auto& fourth) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>)
          fourth.add_piece(0, base_.leftCols(frames_), keep_);
      },
      fourth_);
}

void StreamMoments::work() {
  switch (stage_) {
    case Stage::idle:
      return;
    case Stage::merge:
      return merge();
    case Stage::check:
      return next(fits() ? Stage::add : Stage::triangle);
    case Stage::triangle:
      return triangle();
    case Stage::move:
      return move();
    case Stage::transform:
      return transform();
    case Stage::add:
      return add();
    case Stage::whiten:
      return whiten();
    case Stage::contract:
      return contract();
    case Stage::rotate:
      return rotate();
  }
}

void StreamMoments::merge() {
  const auto X = X_.leftCols(frames_);
  keep_ = memory_ > 0 ? std::exp(-static_cast<double>(frames_) / memory_) : 1;
  largest_ = (keep_ * largest_).cwiseMax(X.cwiseAbs().rowwise().maxCoeff());
  if (based_) {
    place_block();
    return next(Stage::check);
  }
  origin_ = X.rowwise().mean();
  centred_.leftCols(frames_) = X.colwise() - origin_;
  new_count_ = static_cast<double>(frames_);
  next(Stage::triangle);
}

// The block in the coordinates of now, and the sums with it (Chan, Golub and LeVeque).
void StreamMoments::place_block() {
  const auto X = X_.leftCols(frames_);
  auto base = base_.leftCols(frames_);
  auto centred = centred_.leftCols(frames_);
  const auto frames = static_cast<double>(frames_);
  const double before = keep_ * count_;
  new_count_ = before + frames;

  centred = X.colwise() - origin_;
  delta_ = centred.rowwise().mean() - offset_;
  new_offset_ = offset_ + delta_ * (frames / new_count_);

  base.noalias() = V_ * centred;  // x' <- V (x - origin) - v0
  base.colwise() -= v0_;
  block_mean_ = base.rowwise().mean();
  centred = base.colwise() - block_mean_;
  delta_ = block_mean_ - mean_;
  new_mean_ = mean_ + delta_ * (frames / new_count_);
  new_scatter_ = keep_ * scatter_;
  new_scatter_.noalias() += centred * centred.transpose();
  new_scatter_.noalias() += (before * frames / new_count_) * delta_ * delta_.transpose();
}

// What rounding of the data alone would leave in each coordinate (in each channel, before there are
// coordinates).
void StreamMoments::measure_noise() {
  if (based_) {
    noise_.noalias() = level_ * (V_.cwiseAbs() * largest_);
  } else {
    noise_ = level_ * largest_;
  }
}

// Are all live directions of the same size in these coordinates, give or take, and the others still without
// power?
bool StreamMoments::fits() {
  const Index n = channels();
  measure_noise();
  for (Index k = live_; k < n; ++k) {
    if (new_scatter_(k, k) > new_count_ * noise_(k) * noise_(k)) return false;
  }
  if (new_mean_.squaredNorm() > 16 * static_cast<double>(n)) return false;
  if (live_ == 0) return true;
  square_.setZero();  // coordinates without power add zeros at the lower end
  square_.topLeftCorner(live_, live_) = new_scatter_.topLeftCorner(live_, live_) / new_count_;
  symmetric_eigenvalues(square_, eig_.values);
  const double most = eig_.values(n - 1);
  if (most > 16) return false;
  if (new_count_ < next_ratio_ || most <= 256 * eig_.values(n - live_)) return true;
  next_ratio_ = 1.5 * new_count_;  // a direction too weak to be lifted must not be tried with every block
  return false;
}

// rows <- R of all frames so far, in units of each coordinate's deviation
void StreamMoments::triangle() {
  const Index n = channels();
  Index size = frames_;
  rows_.topRows(frames_) = centred_.leftCols(frames_).transpose();
  if (based_) {  // the past by the root of its scatter, coordinate by coordinate in its own unit
    const double before = keep_ * count_;
    work_ = scatter_.diagonal().cwiseMax(0).cwiseSqrt();
    for (Index j = 0; j < n; ++j) {
      for (Index i = 0; i < n; ++i) {
        square_(i, j) = work_(i) > 0 && work_(j) > 0 ? scatter_(i, j) / work_(i) / work_(j) : 0;
      }
    }
    symmetric_eigen(square_, eig_);
    rows_.middleRows(size, n).noalias() =
        (keep_ * eig_.values.cwiseMax(0)).cwiseSqrt().asDiagonal() * eig_.vectors.transpose();
    for (Index j = 0; j < n; ++j) rows_.col(j).segment(size, n) *= work_(j);
    rows_.row(size + n) = std::sqrt(before * static_cast<double>(frames_) / new_count_) * delta_.transpose();
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
  triangularise(S, work_);
  next(Stage::move);
}

// x' <- W (x' - mean): white again, along principal axes so that a direction without power stays by itself
void StreamMoments::move() {
  const Index n = channels();
  square_ = rows_.topRows(n).triangularView<Eigen::Upper>();
  right_singular(square_, svd_);
  singular_ = svd_.values / std::sqrt(new_count_);
  work_ = noise_.cwiseQuotient(scale_);
  const auto is_live = [&](Index i) {
    return singular_(i) > std::max(svd_.V.col(i).cwiseAbs().dot(work_), 1e-14 * singular_(0));
  };
  live_ = 0;
  for (Index i = 0; i < n; ++i) live_ += is_live(i);
  Index next_live = 0;
  Index next_other = live_;
  for (Index i = 0; i < n; ++i) {  // what has no power above rounding is not lifted
    const Index row = is_live(i) ? next_live++ : next_other++;
    const double size = row < live_ ? singular_(i) : 1;
    W_.row(row) = svd_.V.col(i).transpose().cwiseQuotient(scale_.transpose()) / size;
    W_inverse_.col(row) = scale_.cwiseProduct(svd_.V.col(i)) * size;
  }
  if (!based_) {
    based_ = true;
    V_ = W_;
    V_inverse_ = W_inverse_;
    place_block();
    return next(Stage::add);
  }
  work_.noalias() = W_ * new_mean_;
  A_.setZero();
  A_(0, 0) = 1;
  A_.bottomLeftCorner(n, 1) = -work_;
  A_.bottomRightCorner(n, n) = W_;
  delta_ = mean_ - new_mean_;
  mean_.noalias() = W_ * delta_;
  delta_ = v0_ + new_mean_;
  v0_.noalias() = W_ * delta_;
  product_.noalias() = W_ * scatter_;
  square_.noalias() = product_ * W_.transpose();
  scatter_ = (square_ + square_.transpose()) / 2;
  product_.noalias() = W_ * V_;
  V_.swap(product_);
  product_.noalias() = V_inverse_ * W_inverse_;
  V_inverse_.swap(product_);
  place_block();
  next(Stage::transform);
}

void StreamMoments::transform() {
  constexpr Index at_once = 16;
  const bool done = std::visit(
      [&](auto& fourth) {
        if constexpr (std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>) {
          fourth.transform(W_, W_inverse_);
          return true;
        } else {
          const Index end = std::min(piece_ + at_once, fourth.transform_pieces());
          for (; piece_ < end; ++piece_) fourth.transform_piece(piece_, A_);
          return piece_ == fourth.transform_pieces();
        }
      },
      fourth_);
  if (done) next(Stage::add);
}

void StreamMoments::add() {
  const bool done = std::visit(
      [&](auto& fourth) {
        if constexpr (std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>) {
          centred_.leftCols(frames_) = base_.leftCols(frames_).colwise() - new_mean_;
          fourth.add(centred_.leftCols(frames_), keep_);
          return true;
        } else {
          fourth.add_piece(piece_, base_.leftCols(frames_), keep_);
          return ++piece_ == fourth.add_pieces();
        }
      },
      fourth_);
  if (!done) return;
  count_ = new_count_;
  mean_ = new_mean_;
  offset_ = new_offset_;
  scatter_ = new_scatter_;
  next(Stage::idle);
}

// P with P C P^T = I, of the live coordinates
void StreamMoments::whiten() {
  const Index n = channels();
  square_.setZero();
  square_.topLeftCorner(live_, live_) = scatter_.topLeftCorner(live_, live_) / count_;
  symmetric_eigen(square_, eig_);
  rank_ = 0;
  P_.setZero();
  for (Index i = n - 1; i >= n - live_; --i) {
    const double variance = eig_.values(i);
    if (!(variance > 1e-14 * eig_.values(n - 1))) break;
    P_.row(rank_).head(live_) = eig_.vectors.col(i).head(live_).transpose() / std::sqrt(variance);
    ++rank_;
  }
  if (rank_ == 0) return next(Stage::idle);

  if (components_ > 0 && components_ < rank_) {
    // Principal components in the channels' own units, as whiten() has them: P^+ = V^-1 C P^T.
    const Index r = rank_;
    product_.leftCols(r).noalias() = square_ * P_.topRows(r).transpose();
    square_.leftCols(r).noalias() = V_inverse_ * product_.leftCols(r);
    const auto dewhitener = square_.leftCols(r);
    product_.setZero();
    product_.topLeftCorner(r, r).noalias() = dewhitener.transpose() * dewhitener;
    product_.diagonal().tail(n - r).setConstant(-1);  // not among the largest
    symmetric_eigen(product_, eig_);
    rank_ = components_;
    product_.leftCols(rank_) = eig_.vectors.rightCols(rank_).rowwise().reverse();
    square_.topRows(rank_).noalias() = product_.topLeftCorner(r, rank_).transpose() * P_.topRows(r);
    P_.topRows(rank_) = square_.topRows(rank_);
  }
  const auto P = P_.topRows(rank_);
  H_.topRightCorner(rank_, n) = P;
  H_.topLeftCorner(rank_, 1).noalias() = -(P * mean_);
  G_.noalias() = H_.topRows(rank_).transpose() * H_.topRows(rank_);
  next(Stage::contract);
}

void StreamMoments::contract() {
  const Index n = channels();
  std::visit(
      [&](auto& fourth) {
        if constexpr (std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>) {
          Z_.setZero();
          square_ = G_.bottomRightCorner(n, n);
          Z_.bottomRightCorner(n, n) = fourth.reweigh(square_, scatter_, count_);
        } else {
          for (Index k = 0; k < fourth.contract_pieces(); ++k) fourth.contract_piece(k, G_, Z_);
        }
      },
      fourth_);
  next(Stage::rotate);
}

// Z = E[||h||^2 h h^T] = E D E^T,  y = E^T P V (x - mean)
void StreamMoments::rotate() {
  const Index n = channels();
  const Index r = rank_;
  const auto H = H_.topRows(r);
  A_.leftCols(r).noalias() = Z_ * H.transpose();
  square_.setZero();
  square_.topLeftCorner(r, r).noalias() = H * A_.leftCols(r);
  product_ = (square_ + square_.transpose()) / (2 * count_);
  product_.diagonal().tail(n - r).setConstant(-1 -
                                              2 * product_.topLeftCorner(r, r).norm());  // these come last
  symmetric_eigen(product_, eig_);
  product_.leftCols(r) = eig_.vectors.rightCols(r).rowwise().reverse();  // E, by descending D
  rotated_.topRows(r).noalias() = product_.topLeftCorner(r, r).transpose() * P_.topRows(r);
  // Each positive on the channel where it is strongest: E[x y^T] = V^-1 C (E^T P)^T says where, in units of
  // the channels' deviations, which are the norms of its rows.
  product_.leftCols(r).noalias() = scatter_ * rotated_.topRows(r).transpose();
  square_.leftCols(r).noalias() = V_inverse_ * product_.leftCols(r);
  for (Index c = 0; c < n; ++c) {
    const double deviation = square_.row(c).head(r).norm();
    if (deviation > 0) square_.row(c).head(r) /= deviation;
  }
  for (Index k = 0; k < r; ++k) {
    Index strongest = 0;
    square_.col(k).cwiseAbs().maxCoeff(&strongest);
    if (square_(strongest, k) < 0) rotated_.row(k) *= -1;
  }
  unmixing_.topRows(r).noalias() = rotated_.topRows(r) * V_;
  solved_mean_ = origin_ + offset_;
  next(Stage::idle);
}

void StreamMoments::correlate(const Matrix<double>& U, Matrix<double>& out) {
  const Index r = rank_;
  product_.leftCols(r).noalias() = scatter_ * rotated_.topRows(r).transpose();
  square_.leftCols(r).noalias() = V_inverse_ * product_.leftCols(r);
  out.leftCols(r).noalias() = U * square_.leftCols(r);
  out.leftCols(r) /= count_;
}

Matrix<double> StreamMoments::mixing(const Matrix<double>& U) const {
  return V_inverse_ * (scatter_ / count_) * (U * V_inverse_).transpose();
}

Matrix<double> StreamMoments::channel_root() const {
  const Eigenpairs eig = symmetric_eigen(scatter_ / count_);
  return V_inverse_ * eig.vectors * eig.values.cwiseMax(0).cwiseSqrt().asDiagonal();
}

Vector<double> StreamMoments::kurtosis(const Matrix<double>& U) const {
  const Index n = channels();
  Matrix<double> rows(U.rows(), n + 1);  // of outputs, on [1; x']
  rows.rightCols(n) = U * V_inverse_;
  rows.col(0) = -(rows.rightCols(n) * mean_);
  const Matrix<double> C = scatter_ / count_;
  Vector<double> out = Vector<double>::Zero(U.rows());
  for (Index i = 0; i < U.rows(); ++i) {
    const Eigen::RowVectorXd b = rows.row(i).tail(n);
    const double variance = b * C * b.transpose();
    if (!(variance > 0)) continue;
    out(i) = std::visit(
        [&](const auto& fourth) -> double {
          if constexpr (std::is_same_v<std::decay_t<decltype(fourth)>, WeightedScatter>) {
            const double D = b * Z_.bottomRightCorner(n, n) * b.transpose();
            return D / count_ / variance - static_cast<double>(rank_ - 1);
          } else {
            const double fourth_power = rows.row(i) * fourth.contract(rows.row(i).transpose() * rows.row(i)) *
                                        rows.row(i).transpose();
            return fourth_power / (count_ * variance * variance);
          }
        },
        fourth_);
  }
  return out;
}

}  // namespace demix
