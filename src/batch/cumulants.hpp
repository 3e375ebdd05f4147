#pragma once

#include <functional>
#include <utility>
#include <vector>

#include "core/frame_kernels.hpp"
#include "core/sum_over.hpp"

namespace demix {

/// F_ijkl = sum_t y_i y_j y_k y_l for neighbours (i, j), 0 <= j - i < neighbours, and all (k, l): products of
/// pairs. A few pairs are multiplied by all. For many it is cheaper to have every F once, with its indices in
/// order, i <= j <= k <= l: the pairs (k, l) by k and then l, four at a time, by all (i, j) up to the last
/// (k, k).
class FourthSums {
 public:
  FourthSums(Index d, Index neighbours);
  /// Y: the components of each frame, weighted in place. A frame of weight w counts as w times itself.
  void add(LineMatrix<double>& Y, const double* weights, Index frames);
  void merge(const FourthSums& other);
  template <typename Archive>
  void fields(Archive& a) {
    for (Slice& s : slices_) a(s.sums);
    a(total_);
  }

  /// F_ijkl, i <= j <= k <= l, if all pairs were asked for, of at least 2 components.
  double in_order(Index i, Index j, Index k, Index l) const {
    const Index row = k * d_ - k * (k - 1) / 2 + l - k;
    const Matrix<double>& sums = slices_[static_cast<std::size_t>(row / 4)].sums;
    return sums.size() > 0 ? sums(j * (j + 1) / 2 + i, row % 4) : 0;
  }
  /// F_ijkl = moment(i, j, k, l), per frame.
  void set(const std::function<double(Index, Index, Index, Index)>& moment);

  /// The fourth cumulants of white y:
  ///   C^ij_kl = cum(y_i, y_j, y_k, y_l) = E[y_i y_j y_k y_l] - d_ij d_kl - d_ik d_jl - d_il d_jk
  /// A row per matrix C^ij, by j and then i, and a column per entry k <= l, at pair_index(k, l). C^ij and
  /// C^ji are the same: once is enough, with weight sqrt 2.
  Matrix<double> cumulants() const;

 private:
  struct Slice {
    std::vector<Index> rows;  // pairs
    Index columns = 0;        // the first so many pairs
    Matrix<double> sums;      // empty until something is added, so that a copy costs nothing
  };
  Index matrices() const { return static_cast<Index>(wanted_.size()); }
  double sum(Index m, Index k, Index l) const;  // F_ijkl, (i, j) of matrix m

  Index d_;
  std::vector<std::pair<Index, Index>> wanted_;
  bool ordered_ = false;
  std::vector<Slice> slices_;
  double total_ = 0;  // of the weights
};

/// The fourth moments of y = P (x - mean).
class CumulantRequest {
 public:
  using Sums = FourthSums;
  static constexpr std::string_view kind = "cumulants";
  CumulantRequest(const Vector<double>& mean, const Matrix<double>& P, Index neighbours)
      : mean_(mean), P_(P), neighbours_(neighbours), none_(P.rows(), neighbours) {}
  std::tuple<Vector<double>, Matrix<double>, Index> arguments() const {
    return {mean_, P_.columns.topRows(P_.rows), neighbours_};
  }

  FourthSums none() const { return none_; }
  void add(FourthSums& sums, const Chunk& chunk) const;

 private:
  Vector<double> mean_;
  Multiplier<double> P_;
  Index neighbours_;
  FourthSums none_;
};

}  // namespace demix
