#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/fourth_moments.cpp"
#include <hwy/foreach_target.h>  // what follows, once for each generation of processors

#include "demix/fourth_moments.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>
#include <string>
#include <utility>

#include "core/simd-inl.hpp"
#include "core/simd.hpp"

HWY_BEFORE_NAMESPACE();
namespace demix {
namespace HWY_NAMESPACE {

// out_rc <- keep out_rc + sum_t row_r(t) column_c(t) for a tile of R x C, which stays in registers. Columns
// are `length` apart, which is also how long they are, a multiple of 64 bytes; `ld`: from column to column of
// out.
template <int R, int C, typename T>
HWY_INLINE void sum_tile(const T* const (&rows)[R], const T* columns, Index length, double keep, double* out,
                         Index ld) {
  const Full<T> d;
  Vec<Full<T>> sum[R][C];
  set_zero(d, sum);
  for (Index t = 0; t < length; t += lanes(d)) {
    Vec<Full<T>> row[R];
    for (int r = 0; r < R; ++r) row[r] = hn::LoadU(d, rows[r] + t);
    for (int c = 0; c < C; ++c) {
      const auto column = hn::LoadU(d, columns + c * length + t);
      for (int r = 0; r < R; ++r) sum[r][c] = hn::MulAdd(row[r], column, sum[r][c]);
    }
  }
  for (int c = 0; c < C; ++c) {
    for (int r = 0; r < R; ++r) out[c * ld + r] = keep * out[c * ld + r] + total(d, sum[r][c]);
  }
}

template <int C, typename T>
HWY_INLINE void column_tiles(const T* products, const Index* first_pair, Index j, const T* columns,
                             Index block, double keep, double* out) {
  const Index rows = j + 1;
  const auto row = [&](Index i) HWY_ATTR { return products + (first_pair[i] + j - i) * block; };
  Index i = 0;
  for (; i + 3 <= rows; i += 3) {
    const T* const three[3] = {row(i), row(i + 1), row(i + 2)};
    sum_tile<3, C>(three, columns, block, keep, out + i, rows);
  }
  for (; i < rows; ++i) {
    const T* const one[1] = {row(i)};
    sum_tile<1, C>(one, columns, block, keep, out + i, rows);
  }
}

// Slice j: rows x_i x_j for i <= j, columns x_k x_l for j <= k <= l.
template <typename T>
HWY_INLINE void add_slice_body(const T* products, const Index* first_pair, Index j, Index pairs, Index block,
                               double keep, double* slice) {
  const Index rows = j + 1;
  const Index columns = pairs - first_pair[j];
  const T* column = products + first_pair[j] * block;
  Index c = 0;
  for (; c + 4 <= columns; c += 4) {
    column_tiles<4>(products, first_pair, j, column + c * block, block, keep, slice + c * rows);
  }
  for (; c < columns; ++c) {
    column_tiles<1>(products, first_pair, j, column + c * block, block, keep, slice + c * rows);
  }
}

void AddSliceFloat(const float* products, const Index* first_pair, Index j, Index pairs, Index block,
                   double keep, double* slice) {
  add_slice_body(products, first_pair, j, pairs, block, keep, slice);
}
void AddSliceDouble(const double* products, const Index* first_pair, Index j, Index pairs, Index block,
                    double keep, double* slice) {
  add_slice_body(products, first_pair, j, pairs, block, keep, slice);
}

}  // namespace HWY_NAMESPACE
}  // namespace demix
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace demix {
namespace {
HWY_EXPORT(AddSliceFloat);
HWY_EXPORT(AddSliceDouble);

void add_slice(const float* products, const Index* first_pair, Index j, Index pairs, Index block, double keep,
               double* slice) {
  DEMIX_DISPATCH(AddSliceFloat)(products, first_pair, j, pairs, block, keep, slice);
}
void add_slice(const double* products, const Index* first_pair, Index j, Index pairs, Index block,
               double keep, double* slice) {
  DEMIX_DISPATCH(AddSliceDouble)(products, first_pair, j, pairs, block, keep, slice);
}

}  // namespace

template <typename T>
FourthMoments<T>::FourthMoments(Index d, Index block) : n_(d + 1), pairs_(n_ * (n_ + 1) / 2), block_(block) {
  if (d < 1 || block < 16 || block % 16 != 0) {
    throw std::invalid_argument(
        "FourthMoments: expected at least 1 channel and blocks of a multiple of 16 frames, got " +
        std::to_string(d) + " and " + std::to_string(block));
  }
  Index size = 0;
  for (Index j = 0; j < n_; ++j) {
    first_pair_.push_back(static_cast<Index>(pair_list_.size()));
    for (Index l = j; l < n_; ++l) pair_list_.emplace_back(j, l);
    slice_.push_back(size);
    size += (j + 1) * (pairs_ - first_pair_.back());
  }
  sums_.assign(static_cast<std::size_t>(size), 0.0);
  products_ = Matrix<T>::Zero(block, pairs_);
  half_moved_ = Matrix<double>::Zero(pairs_, pairs_);
  square_ = product_ = moved_ = Matrix<double>::Zero(n_, n_);
}

template <typename T>
void FourthMoments<T>::clear() {
  std::fill(sums_.begin(), sums_.end(), 0.0);
}

template <typename T>
std::size_t FourthMoments<T>::place(Index a, Index b, Index c, Index d) const {
  if (a > b) std::swap(a, b);
  if (c > d) std::swap(c, d);
  if (a > c) std::swap(a, c);
  if (b > d) std::swap(b, d);
  if (b > c) std::swap(b, c);
  return static_cast<std::size_t>(slice_[b] + (pair(c, d) - first_pair_[b]) * (b + 1) + a);
}

template <typename T>
double FourthMoments<T>::operator()(Index a, Index b, Index c, Index d) const {
  return sums_[place(a, b, c, d)];
}

template <typename T>
void FourthMoments<T>::add_piece(Index k, const Frames<double>& X, double keep) {
  if (k > 0) {
    const Index j = k - 1;
    add_slice(products_.data(), first_pair_.data(), j, pairs_, block_, keep, sums_.data() + slice_[j]);
    return;
  }
  // The pairs (0, l) are the frame itself; a block that is not full is filled up with zeros.
  const Index frames = X.cols();
  products_.topRows(frames).col(0).setOnes();
  products_.bottomRows(block_ - frames).leftCols(n_).setZero();
  for (Index l = 1; l < n_; ++l) {
    for (Index t = 0; t < frames; ++t) products_(t, l) = static_cast<T>(X(l - 1, t));
  }
  for (Index p = n_; p < pairs_; ++p) {
    const auto [a, b] = pair_list_[static_cast<std::size_t>(p)];
    products_.col(p) = products_.col(a).cwiseProduct(products_.col(b));
  }
}

template <typename T>
void FourthMoments<T>::add(const Frames<double>& X, double keep) {
  for (Index start = 0; start < X.cols(); start += block_) {
    const Frames<double> part = X.middleCols(start, std::min(block_, X.cols() - start));
    for (Index k = 0; k < add_pieces(); ++k) add_piece(k, part, start == 0 ? keep : 1);
  }
}

// Each F_ijkl stands for all its permutations. Of the 24, those that leave the four indices where they are,
// because some are equal, are the same term: v = F/(their number) is summed over all 24, which are 6 ways to
// choose the pair that stays, times 2 for G and 2 for Z.
template <typename T>
void FourthMoments<T>::contract_piece(Index j, const Matrix<double>& G, Matrix<double>& Z) const {
  if (j == 0) Z.setZero();
  const double* F = sums_.data() + slice_[j];
  for (Index k = j; k < n_; ++k) {
    for (Index l = k; l < n_; ++l, F += j + 1) {
      const double same_below = j == k && k == l ? 1. / 6 : j == k || k == l ? 1. / 2 : 1;          // i < j
      const double same = j == k && k == l ? 1. / 24 : j == k ? 1. / 6 : k == l ? 1. / 4 : 1. / 2;  // i = j
      const double g_kl = 2 * G(k, l);
      const double g_jl = 2 * G(j, l);
      const double g_jk = 2 * G(j, k);
      const double* g_j = G.col(j).data();
      const double* g_k = G.col(k).data();
      const double* g_l = G.col(l).data();
      double* z_j = Z.col(j).data();
      double* z_k = Z.col(k).data();
      double* z_l = Z.col(l).data();
      double s_j = 0;
      double s_k = 0;
      double s_l = 0;
      for (Index i = 0; i <= j; ++i) {
        const double v = (i < j ? same_below : same) * F[i];
        s_j += g_j[i] * v;
        s_k += g_k[i] * v;
        s_l += g_l[i] * v;
        z_j[i] += g_kl * v;
        z_k[i] += g_jl * v;
        z_l[i] += g_jk * v;
      }
      Z(k, l) += 2 * s_j;
      Z(j, l) += 2 * s_k;
      Z(j, k) += 2 * s_l;
    }
  }
  if (j + 1 < n_) return;
  for (Index a = 0; a < n_; ++a) {
    Z(a, a) *= 2;
    for (Index b = 0; b < a; ++b) Z(a, b) = Z(b, a) = Z(a, b) + Z(b, a);
  }
}

template <typename T>
Matrix<double> FourthMoments<T>::contract(const Matrix<double>& G) const {
  Matrix<double> Z(n_, n_);
  for (Index k = 0; k < contract_pieces(); ++k) contract_piece(k, G, Z);
  return Z;
}

// F'_abcd = A_ai A_bj A_ck A_dl F_ijkl: first the pair (i, j) for every pair (k, l), then the other way
// round.
template <typename T>
void FourthMoments<T>::transform_piece(Index piece, const Matrix<double>& A) {
  const bool first = piece < pairs_;
  const Index fixed = first ? piece : piece - pairs_;
  const auto [a, b] = pair_list_[static_cast<std::size_t>(fixed)];
  for (Index p = 0; p < pairs_; ++p) {
    const auto [k, l] = pair_list_[static_cast<std::size_t>(p)];
    square_(k, l) = square_(l, k) = first ? sums_[place(a, b, k, l)] : half_moved_(p, fixed);
  }
  product_.noalias() = A * square_;
  moved_.noalias() = product_ * A.transpose();
  for (Index p = 0; p < pairs_; ++p) {
    const auto [k, l] = pair_list_[static_cast<std::size_t>(p)];
    if (first) {
      half_moved_(fixed, p) =
          moved_(k, l);  // in row (i, j) the moved (k, l): column p is what piece p moves next
    } else if (k >= b) {
      sums_[place(a, b, k, l)] = moved_(k, l);
    }
  }
}

template <typename T>
void FourthMoments<T>::transform(const Matrix<double>& A) {
  for (Index k = 0; k < transform_pieces(); ++k) transform_piece(k, A);
}

template class FourthMoments<float>;
template class FourthMoments<double>;

}  // namespace demix
#endif
