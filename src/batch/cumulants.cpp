#include "batch/cumulants.hpp"

#include <cmath>
#include <utility>

#include "batch/joint_diagonaliser.hpp"
#include "core/blocks.hpp"
#include "core/frame_kernels.hpp"
#include "core/parallel_sum.hpp"

namespace demix {
namespace {

Index count_pairs(Index d) { return d * (d + 1) / 2; }

// F_ijkl = sum_t y_i y_j y_k y_l for neighbours (i, j) and all (k, l): products of columns of Z, which has
// the pairs, Z_t,(k,l) = y_k y_l. A few pairs are multiplied by all. For many it is cheaper to have every F
// once, with its indices in order, i <= j <= k <= l: the pairs (k, l) of one k, by all (i, j) up to (k, k).
class FourthSums {
 public:
  FourthSums(Index d, Index neighbours) : d_(d) {
    for (Index j = 0; j < d; ++j) {
      for (Index i = std::max<Index>(0, j - neighbours + 1); i <= j; ++i) wanted_.emplace_back(i, j);
    }
    ordered_ = matrices() * count_pairs(d) > (d + 3) * (d + 2) * (d + 1) * d / 24;
    if (ordered_) {
      for (Index k = 0; k < d; ++k) {
        slices_.push_back({{}, count_pairs(k + 1), {}});
        for (Index l = k; l < d; ++l) slices_.back().rows.push_back(pair_index(k, l));
      }
    } else {
      slices_.push_back({{}, count_pairs(d), {}});
      for (const auto& [i, j] : wanted_) slices_.back().rows.push_back(pair_index(i, j));
    }
  }

  // Y: one column per component; below `frames` rows it is 0. A frame of weight w counts as w times itself.
  void add(Matrix<double>& Y, Index frames, const double* weights) {
    if (weights) {
      const Eigen::Map<const Eigen::ArrayXd> w(weights, Y.rows());
      Y.array().colwise() *= w.sqrt().sqrt();
      total_ += w.sum();
    } else {
      total_ += static_cast<double>(frames);
    }
    constexpr Index piece =
        256;  // frames: few, or Z leaves the cache; many, or adding to the sums takes long
    Scratch room;
    Matrix<double>& Z = *room;
    Z.resize(piece, count_pairs(d_));
    for (Index start = 0; start < frames; start += piece) {
      const auto y = Y.middleRows(start, piece);
      for (Index l = 0; l < d_; ++l) {
        for (Index k = 0; k <= l; ++k) Z.col(pair_index(k, l)) = y.col(k).cwiseProduct(y.col(l));
      }
      for (Slice& s : slices_) {
        if (s.sums.size() == 0) s.sums.setZero(static_cast<Index>(s.rows.size()), s.columns);
        add_selected_products(Z, s.rows, s.sums);
      }
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
    Index columns;            // the first so many pairs
    Matrix<double> sums;      // empty until something is added, so that a copy costs nothing
  };

  Index matrices() const { return static_cast<Index>(wanted_.size()); }

  double sum(Index m, Index k, Index l) const {  // F_ijkl, (i, j) of matrix m
    if (!ordered_) return slices_[0].sums(m, pair_index(k, l));
    auto [i, j] = wanted_[static_cast<std::size_t>(m)];
    if (i > k) std::swap(i, k);  // the least first, the greatest last, then the two between
    if (j > l) std::swap(j, l);
    if (j > k) std::swap(j, k);
    return slices_[static_cast<std::size_t>(k)].sums(l - k, pair_index(i, j));
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
  parallel_sum(X, progress, 1. / 3, 2. / 3, sums,
               [&](FourthSums& sum, const AnyFrames& chunk, std::int64_t before) {
                 Scratch room;
                 Matrix<double>& y = *room;
                 for_each_centred_block(chunk, mean, X.weights_from(before),
                                        [&](const Matrix<double>& block, Index frames, const double* w) {
                                          multiply(block, P, y);
                                          sum.add(y, frames, w);
                                        });
               });
  return sums.cumulants();
}

}  // namespace demix
