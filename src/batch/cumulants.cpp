#include "batch/cumulants.hpp"

#include <algorithm>
#include <cmath>

#include "batch/joint_diagonaliser.hpp"
#include "batch/pair_products.hpp"
#include "core/blocks.hpp"

namespace demix {
namespace {

Index count_pairs(Index d) { return d * (d + 1) / 2; }

}  // namespace

FourthSums::FourthSums(Index d, Index neighbours) : d_(d) {
  for (Index j = 0; j < d; ++j) {
    for (Index i = std::max<Index>(0, j - neighbours + 1); i <= j; ++i) wanted_.emplace_back(i, j);
  }
  ordered_ = matrices() * count_pairs(d) > (d + 3) * (d + 2) * (d + 1) * d / 24;
  if (ordered_) {
    for (Index k = 0; k < d; ++k) {
      for (Index l = k; l < d; ++l) {
        if (slices_.empty() || slices_.back().rows.size() == 4) slices_.emplace_back();
        slices_.back().rows.push_back(pair_index(k, l));
        slices_.back().columns = count_pairs(k + 1);
      }
    }
  } else {
    slices_.push_back({{}, count_pairs(d), {}});
    for (const auto& [i, j] : wanted_) slices_.back().rows.push_back(pair_index(i, j));
  }
}

void FourthSums::add(LineMatrix<double>& Y, const double* weights, Index frames) {
  total_ += weights ? Eigen::Map<const Vector<double>>(weights, frames).sum() : static_cast<double>(frames);
  if (weights) {
    const Eigen::Map<const Eigen::RowVectorXd> w(weights, frames);
    Y.topRows(d_).array().rowwise() *= w.array().sqrt().sqrt();
  }
  thread_local PairProducts Z;
  Z.set(Y, d_);
  for (Slice& s : slices_) {
    if (s.sums.size() == 0) s.sums.setZero(s.columns, static_cast<Index>(s.rows.size()));
    Z.add_products(s.rows, s.sums);
  }
}

void FourthSums::merge(const FourthSums& other) {
  for (std::size_t s = 0; s < slices_.size(); ++s) {
    if (total_ == 0) {
      slices_[s].sums = other.slices_[s].sums;
    } else {
      slices_[s].sums += other.slices_[s].sums;
    }
  }
  total_ += other.total_;
}

void FourthSums::set(const std::function<double(Index, Index, Index, Index)>& moment) {
  total_ = 1;
  for (Slice& s : slices_) s.sums.setZero(s.columns, static_cast<Index>(s.rows.size()));
  for (Index l = 0; l < d_; ++l) {
    for (Index k = 0; k <= l; ++k) {
      if (ordered_) {
        const Index row = k * d_ - k * (k - 1) / 2 + l - k;
        Matrix<double>& sums = slices_[static_cast<std::size_t>(row / 4)].sums;
        for (Index j = 0; j <= k; ++j) {
          for (Index i = 0; i <= j; ++i) sums(pair_index(i, j), row % 4) = moment(i, j, k, l);
        }
      } else {
        for (Index m = 0; m < matrices(); ++m) {
          const auto [i, j] = wanted_[static_cast<std::size_t>(m)];
          slices_[0].sums(pair_index(k, l), m) = moment(i, j, k, l);
        }
      }
    }
  }
}

Matrix<double> FourthSums::cumulants() const {
  Matrix<double> C(matrices(), count_pairs(d_));
  for (Index l = 0; l < d_; ++l) {
    for (Index k = 0; k <= l; ++k) {
      for (Index m = 0; m < C.rows(); ++m) {
        const auto [i, j] = wanted_[static_cast<std::size_t>(m)];
        const int gaussian = (i == j && k == l) + (i == k && j == l) + (i == l && j == k);
        const double cumulant = sum(m, k, l) / total_ - gaussian;
        C(m, pair_index(k, l)) = i == j ? cumulant : std::sqrt(2.0) * cumulant;
      }
    }
  }
  return C;
}

double FourthSums::sum(Index m, Index k, Index l) const {
  if (!ordered_) return slices_[0].sums(pair_index(k, l), m);
  auto [i, j] = wanted_[static_cast<std::size_t>(m)];
  if (i > k) std::swap(i, k);  // the least first, the greatest last, then the two between
  if (j > l) std::swap(j, l);
  if (j > k) std::swap(j, k);
  return in_order(i, j, k, l);
}

void CumulantRequest::add(FourthSums& sums, const Chunk& chunk) const {
  Scratch y;
  constexpr Index frames = 128;  // many, or adding to the sums takes long
  const auto add = [&](const Block<double>& block) {
    multiply(P_, block.x, *y, block.ahead);
    sums.add(*y, block.weights, block.frames());
  };
  for_each_centred_block(chunk.frames, mean_, chunk.weights, add, frames);
}

}  // namespace demix
