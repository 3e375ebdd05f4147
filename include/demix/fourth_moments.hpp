#pragma once

#include <vector>

#include "demix/types.hpp"

/// The running fourth moment, exact and in one pass:
///
///   F_abcd = sum_t x_a x_b x_c x_d,   x = [1; frame]
///
/// With the constant in front it holds every lower moment too. It is a sum, so the order of the frames does
/// not matter; it is symmetric, so C(d + 4, 4) numbers are all of it (70 at d = 4, 58 905 at d = 32); and it
/// moves with the coordinates. Contracted with the inverse covariance it gives FOBI's matrix as if every
/// frame had been kept.
namespace demix {

/// T is what products are formed and summed in within one block; the sums over blocks are double.
template <typename T>
class FourthMoments {
 public:
  /// Of frames of d channels, added in blocks of at most `block` frames (a multiple of 16).
  FourthMoments(Index d, Index block);

  /// F <- keep F + sum over the block. X: d x frames.
  void add(const Frames<double>& X, double keep = 1);

  /// Z_ab = sum_cd F_abcd G_cd, for a symmetric G: (d + 1) x (d + 1)
  Matrix<double> contract(const Matrix<double>& G) const;

  /// x <- A x of every frame seen, A: (d + 1) x (d + 1) with first row (1, 0, ..., 0)
  void transform(const Matrix<double>& A);

  void clear();  ///< F <- 0

  double operator()(Index a, Index b, Index c, Index d) const;

  /// The same in pieces short enough to be spread over the steps of a stream: one after the other, 0 to
  /// pieces - 1, with the same arguments. None allocates.
  Index add_pieces() const { return n_ + 1; }
  void add_piece(Index k, const Frames<double>& X, double keep);
  Index contract_pieces() const { return n_; }
  void contract_piece(Index k, const Matrix<double>& G, Matrix<double>& Z) const;
  Index transform_pieces() const { return 2 * pairs_; }
  void transform_piece(Index k, const Matrix<double>& A);

  std::vector<double>& sums() { return sums_; }         ///< all there is to keep of it
  Matrix<double>& half_moved() { return half_moved_; }  ///< and this, between two pieces of transform
  const std::vector<double>& sums() const { return sums_; }

 private:
  Index pair(Index k, Index l) const { return first_pair_[k] + l - k; }  // k <= l
  std::size_t place(Index a, Index b, Index c, Index d) const;

  // F_ijkl, i <= j <= k <= l, is held in slice j: a matrix with a row per i and a column per pair (k, l).
  Index n_;      // d + 1
  Index pairs_;  // n (n + 1)/2
  Index block_;
  std::vector<Index> first_pair_;  // (k, k)
  std::vector<Index> slice_;       // where slice j begins
  std::vector<double> sums_;

  // Where the work is done.
  Matrix<T> products_;                       // block x pairs: x_k x_l of each frame
  Matrix<double> half_moved_;                // pairs x pairs
  Matrix<double> square_, product_, moved_;  // n x n
  std::vector<std::pair<Index, Index>> pair_list_;
};

extern template class FourthMoments<float>;
extern template class FourthMoments<double>;

}  // namespace demix
