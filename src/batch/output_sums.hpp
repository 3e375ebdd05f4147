#pragma once

#include <map>

#include "core/frame_kernels.hpp"
#include "core/sum_over.hpp"
#include "demix/rotation.hpp"

/// What describe() asks of the outputs y = W (x - mean), in one pass.
namespace demix {

struct OutputSums {
  Vector<double> second, fourth;  ///< sum y^2, y^4
  Vector<double> slope;           ///< sum g'(y), if the equation has a g
  double total = 0;               ///< of the weights

  /// Sums over one of the stretches of equal length that a recording is cut into. Frames depend on each
  /// other; stretches much less, so they tell how much such sums vary.
  struct Stretch {
    Matrix<double> product;  ///< sum g(y) y^T, or w(||y||^2) y y^T
    Matrix<double> square;   ///< sum y y^T
    Vector<double> sum;      ///< sum y
    double total = 0;        ///< of the weights

    void merge(const Stretch& other);
  };
  std::map<Index, Stretch> stretches;  ///< by number; only those that have frames

  struct Large {
    double value = 0;  ///< |y|
    std::int64_t frame = 0;
  };
  std::vector<std::vector<Large>> largest;  ///< of each output the largest, descending

  /// Frames of the channels, as they are, of segments spread over the recording.
  struct Piece {
    Index segment = 0, offset = 0;
    Matrix<double> x;
  };
  std::vector<Piece> pieces;

  void merge(const OutputSums& other);
};

class OutputRequest {
 public:
  using Sums = OutputSums;
  static constexpr Index stretches = 64;
  static constexpr Index kept_large = 16;  ///< of each output
  static constexpr Index segment_frames = 512;

  /// `equation`: none: only powers are summed.
  OutputRequest(const WhiteRecording& white, const Matrix<double>& W,
                const std::optional<EstimatingEquation>& equation);

  bool in_float() const { return in_float_; }  ///< whether floats hold the digits that are wanted
  bool segments_overlap() const { return segments_ * segment_frames > frames_; }
  /// The frames of all segments that have no frame of weight 0, side by side.
  Matrix<double> segments_of(const OutputSums& sums) const;

  OutputSums none() const;
  void add(OutputSums& sums, const Chunk& chunk) const;

 private:
  template <typename T>
  void add_stretch(OutputSums& sums, const Chunk& chunk, Index number, const Multiplier<T>& W) const;
  void keep_pieces(OutputSums& sums, const Chunk& chunk) const;

  Vector<double> mean_;
  std::optional<EstimatingEquation> equation_;
  std::int64_t frames_;
  Index segments_;
  std::vector<std::int64_t> starts_;  // of the segments
  bool in_float_;
  Multiplier<double> doubles_;  // W
  Multiplier<float> floats_;
};

}  // namespace demix
