#pragma once

#include "core/sum_over.hpp"

namespace demix {

/// Frames spread evenly over a recording of so many, at most `enough` of them. By default enough to tell how
/// mixed its sources still are, and few enough to cost nothing.
template <typename T = double>
struct Sample {
  Matrix<T> frames;
  Vector<double> weights;  ///< of each; empty if all count the same
};
template <typename T = double>
Sample<T> sample_of(const Recording& X, std::int64_t frames, std::int64_t enough = 1 << 14);
/// Every so many frames, of a recording that is elsewhere.
template <typename T>
struct SampleRequest {
  struct Sums {
    struct Piece {
      Index first = 0;  ///< in the sample
      Matrix<T> frames;
      template <typename Archive>
      void fields(Archive& a) {
        a(first, frames);
      }
    };
    std::vector<Piece> pieces;
    void merge(const Sums& other) { pieces.insert(pieces.end(), other.pieces.begin(), other.pieces.end()); }
    template <typename Archive>
    void fields(Archive& a) {
      a(pieces);
    }
  };
  static constexpr std::string_view kind = sizeof(T) == sizeof(float) ? "sample of floats" : "sample";
  explicit SampleRequest(Index of_stride) : stride(of_stride) {}
  std::tuple<Index> arguments() const { return {stride}; }
  Index stride;

  Sums none() const { return {}; }
  void add(Sums& sums, const Chunk& chunk) const {
    std::visit(
        [&](const auto& x) {
          const Index first = (chunk.first + stride - 1) / stride;
          const Index end = (chunk.first + x.cols() + stride - 1) / stride;
          if (first >= end) return;
          Matrix<T> frames(x.rows(), end - first);
          for (Index k = first; k < end; ++k)
            frames.col(k - first) = x.col(k * stride - chunk.first).template cast<T>();
          sums.pieces.push_back({first, std::move(frames)});
        },
        chunk.frames);
  }
};
extern template Sample<float> sample_of(const Recording&, std::int64_t, std::int64_t);
extern template Sample<double> sample_of(const Recording&, std::int64_t, std::int64_t);

}  // namespace demix
