#include "batch/cumulants.hpp"

#include <cmath>
#include <utility>

#include "batch/joint_diagonaliser.hpp"
#include "batch/pair_products.hpp"
#include "core/blocks.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

Index count_pairs(Index d) { return d * (d + 1) / 2; }

// F_ijkl = sum_t y_i y_j y_k y_l for neighbours (i, j) and all (k, l): products of pairs. A few pairs are
// multiplied by all. For many it is cheaper to have every F once, with its indices in order, i <= j <= k <=
// l: the pairs (k, l) by k and then l, four at a time, by all (i, j) up to the last (k, k).
class FourthSums {
 public:
  FourthSums(Index d, Index neighbours) : d_(d) {
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

  // Y: the components of each frame. A frame of weight w counts as w times itself.
  void add(LineMatrix<double>& Y, const Block<double>& block) {
    total_ += block.total();
    if (block.weights) {
      const Eigen::Map<const Eigen::RowVectorXd> w(block.weights, block.frames());
      Y.topRows(d_).array().rowwise() *= w.array().sqrt().sqrt();
    }
    thread_local PairProducts Z;
    Z.set(Y, d_);
    for (Slice& s : slices_) {
      if (s.sums.size() == 0) s.sums.setZero(s.columns, static_cast<Index>(s.rows.size()));
      Z.add_products(s.rows, s.sums);
    }
  }

  void merge(const FourthSums& other) {
    for (std::size_t s = 0; s < slices_.size(); ++s) {
      if (total_ == 0) {
        slices_[s].sums = other.slices_[s].sums;
      } else {
        slices_[s].sums += other.slices_[s].sums;
      }
    }
    total_ += other.total_;
  }

  Matrix<double> cumulants() const {
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

 private:
  struct Slice {
    std::vector<Index> rows;  // pairs
    Index columns = 0;        // the first so many pairs
    Matrix<double> sums;      // empty until something is added, so that a copy costs nothing
  };

  Index matrices() const { return static_cast<Index>(wanted_.size()); }

  double sum(Index m, Index k, Index l) const {  // F_ijkl, (i, j) of matrix m
    if (!ordered_) return slices_[0].sums(pair_index(k, l), m);
    auto [i, j] = wanted_[static_cast<std::size_t>(m)];
    if (i > k) std::swap(i, k);  // the least first, the greatest last, then the two between
    if (j > l) std::swap(j, l);
    if (j > k) std::swap(j, k);
    const Index row = k * d_ - k * (k - 1) / 2 + l - k;
    return slices_[static_cast<std::size_t>(row / 4)].sums(pair_index(i, j), row % 4);
  }

  Index d_;
  std::vector<std::pair<Index, Index>> wanted_;
  bool ordered_ = false;
  std::vector<Slice> slices_;
  double total_ = 0;  // of the weights
};

}  // namespace

Matrix<double> cumulant_matrices(const Recording& X, const Vector<double>& mean, const Matrix<double>& P,
                                 Index neighbours, const ProgressCallback& progress) {
  FourthSums sums(P.rows(), neighbours);
  const Multiplier<double> by_P(P);
  parallel_sum(X, progress, 1. / 3, 2. / 3, sums,
               [&](FourthSums& sum, const AnyFrames& chunk, std::int64_t before) {
                 Scratch y;
                 constexpr Index frames = 128;  // many, or adding to the sums takes long
                 const auto add = [&](const Block<double>& block) {
                   multiply(by_P, block.x, *y, block.ahead);
                   sum.add(*y, block);
                 };
                 for_each_centred_block(chunk, mean, X.weights_from(before), add, frames);
               });
  return sums.cumulants();
}

}  // namespace demix
