#pragma once

#include <cstdint>
#include <vector>

#include "core/scratch.hpp"
#include "demix/types.hpp"

/// What every pass over the data is made of, on blocks of frames: one column per frame, its channels filled
/// up with zeros to whole units of 32 bytes. T: double, or float where that is enough. Rows of a block beyond
/// its lanes are never looked at.
namespace demix {

/// Rows up to which a block of so many channels is filled with zeros: lanes of 32 bytes.
template <typename T>
constexpr Index lane_rows(Index channels) {
  constexpr Index lane = 32 / sizeof(T);
  return (channels + lane - 1) / lane * lane;
}
/// From frame to frame of such a block. Not a multiple of 512 bytes, or the same channels of all frames would
/// want the same few places in the cache.
template <typename T>
constexpr Index block_stride(Index channels) {
  const Index rows = lane_rows<T>(channels);
  return rows * sizeof(T) % 512 == 0 ? rows + 64 / sizeof(T) : rows;
}

/// Memory that is needed next: kernels ask for it little by little while they compute.
struct Ahead {
  std::uintptr_t address = 0;  ///< nothing need be there
  Index bytes = 0;
};

/// to_it = from_it - origin_i, and zeros below. `stride`: from frame to frame in `from`.
template <typename S, typename T>
void centre(const S* from, Index stride, Index frames, const Vector<double>& origin, LineMatrix<T>& to);

/// Floats as doubles.
void widen(const float* from, Index count, double* to);

/// A matrix to multiply frames by, laid out for it.
template <typename T>
struct Multiplier {
  explicit Multiplier(const Matrix<double>& P);

  Index rows, channels;
  LineMatrix<T> columns;  ///< those of P, filled up with zeros to whole lanes
  /// For each 32 bytes of rows, the first column that is not 0 in them or below: R of a QR has half.
  std::vector<Index> first;
};

/// Y = P X
template <typename T>
void multiply(const Multiplier<T>& P, const LineMatrix<T>& X, LineMatrix<T>& Y, Ahead ahead = {});

/// S_ij <- S_ij + sum_t X_it Y_jt for i >= j
template <typename T>
void add_scatter(const LineMatrix<T>& X, const LineMatrix<T>& Y, Matrix<double>& S, Ahead ahead = {});
/// S <- S + X Y^T
template <typename T>
void add_product(const LineMatrix<T>& X, const LineMatrix<T>& Y, Matrix<double>& S);

/// sum_i += sum_t X_it
void add_sums(const LineMatrix<double>& X, Vector<double>& sum);
struct Powers {
  Vector<double>& first;    ///< first_i += sum_t X_it
  Vector<double>& second;   ///< second_i += sum_t X_it^2
  Vector<double>& fourth;   ///< fourth_i += sum_t X_it^4
  Vector<double>& largest;  ///< largest_i = max_t |X_it|
};
template <typename T>
void add_powers(const LineMatrix<T>& X, Powers sums);
/// length_t = sum_i X_it^2
template <typename T>
void squared_lengths(const LineMatrix<T>& X, Index channels, Vector<double>& length);
/// Y_it = w_t X_it; X and Y may be the same
template <typename T>
void weigh(const LineMatrix<T>& X, Index channels, const double* w, LineMatrix<T>& Y);

/// Whether channels of the size that calls for this P can be multiplied by it in float: none is at the ends
/// of its range.
bool fits_float(const Matrix<double>& P);

}  // namespace demix
