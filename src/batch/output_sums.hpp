#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "core/frame_kernels.hpp"
#include "core/sum_over.hpp"
#include "demix/rotation.hpp"

/// What describe() asks of the outputs y = W (x - mean), in one pass.
namespace demix {

/// The largest of many values and the frames they are in.
class LargestValues {
 public:
  static constexpr std::size_t most = 16;
  struct Value {
    double value = 0;
    std::int64_t frame = 0;

    template <typename Archive>
    void fields(Archive& a) {
      a(value, frame);
    }
  };

  /// No value below this one is among the largest.
  double least() const { return least_; }
  void ignore_below(double value) { least_ = std::max(least_, value); }
  void add(Value value);
  void merge(const LargestValues& other);
  void drop_small();  ///< values that are not among the largest
  std::vector<Value> descending() const;
  template <typename Archive>
  void fields(Archive& a) {
    a(values_, least_);
  }

 private:
  std::vector<Value> values_;  // the largest, and some more
  double least_ = -1;
};

/// How often each channel is at its highest or lowest value in two frames in a row: a clipped one often is.
struct ChannelEnds {
  struct End {
    double value = 0;        ///< highest, or minus the lowest
    std::int64_t pairs = 0;  ///< of neighbouring frames that both have it

    template <typename Archive>
    void fields(Archive& a) {
      a(value, pairs);
    }
  };
  std::vector<End> highest, lowest;
  std::int64_t frames = 0;

  void add(const Frames<double>& x);  ///< frames that follow each other
  void merge(const ChannelEnds& other);
  template <typename Archive>
  void fields(Archive& a) {
    a(highest, lowest, frames);
  }
};

struct OutputSums {
  Vector<double> second, fourth;  ///< sum y^2, y^4
  Vector<double> slope;           ///< sum g'(y), if the equation has a g
  double total = 0;               ///< of the weights

  /// Sums over one of the stretches of equal length that a recording is cut into. Frames depend on each
  /// other; stretches much less, so they tell how much such sums vary.
  struct Stretch {
    Matrix<double> product;  ///< sum g(y) y^T, or the lower triangle of w(||y||^2) y y^T
    Matrix<double> square;   ///< sum y y^T, lower triangle
    Vector<double> sum;      ///< sum y
    double total = 0;        ///< of the weights

    void merge(const Stretch& other);
    template <typename Archive>
    void fields(Archive& a) {
      a(product, square, sum, total);
    }
  };
  std::map<Index, Stretch> stretches;  ///< by number; only those that have frames

  std::vector<LargestValues> largest;  ///< |y| of each output

  /// Outputs of segments spread over the recording; NaN where a frame does not count.
  struct Piece {
    Index segment = 0, offset = 0;
    Matrix<float> y;

    template <typename Archive>
    void fields(Archive& a) {
      a(segment, offset, y);
    }
  };
  std::vector<Piece> pieces;
  ChannelEnds ends;  ///< of the channels in these segments

  void merge(const OutputSums& other);
  template <typename Archive>
  void fields(Archive& a) {
    a(second, fourth, slope, total, stretches, largest, pieces, ends);
  }
};

class OutputRequest {
 public:
  using Sums = OutputSums;
  static constexpr std::string_view kind = "outputs";
  static constexpr Index stretches = 64;
  static constexpr Index segment_frames = 512;

  /// `equation`: none: only powers are summed.
  OutputRequest(const WhiteRecording& white, const Matrix<double>& W,
                const std::optional<EstimatingEquation>& equation);

  OutputRequest(Vector<double> mean, const Matrix<double>& W, bool has_equation, EstimatingEquation equation,
                std::int64_t frames, std::vector<std::int64_t> starts, bool in_float);
  std::tuple<Vector<double>, Matrix<double>, bool, EstimatingEquation, std::int64_t,
             std::vector<std::int64_t>, bool>
  arguments() const {
    return {mean_,
            doubles_.columns.topRows(doubles_.rows),
            equation_.has_value(),
            equation_.value_or(EstimatingEquation{}),
            frames_,
            starts_,
            in_float_};
  }

  bool segments_overlap() const { return segments_ * segment_frames > frames_; }
  /// The outputs, in this order, of all segments that have no frame of weight 0, side by side.
  Matrix<float> segments_of(const OutputSums& sums, const std::vector<Index>& order) const;

  OutputSums none() const;
  void add(OutputSums& sums, const Chunk& chunk) const;

 private:
  template <typename T>
  void add_stretch(OutputSums& sums, const Chunk& chunk, Index number, const Multiplier<T>& W) const;
  void keep_pieces(OutputSums& sums, const Chunk& chunk) const;
  Matrix<float> outputs_of(const AnyFrames& frames) const;

  Vector<double> mean_;
  std::optional<EstimatingEquation> equation_;
  std::int64_t frames_;
  Index segments_;
  std::vector<std::int64_t> starts_;  // of the segments
  bool in_float_;
  // The largest values of each output so far: smaller ones need not be kept. It only saves work; what comes
  // out does not depend on who found them when.
  class Seen {
   public:
    explicit Seen(Index outputs) : largest_(static_cast<std::size_t>(outputs)) {}
    void tell(std::vector<LargestValues>& largest);
    void add(const std::vector<LargestValues>& largest);

   private:
    std::mutex mutex_;
    std::vector<LargestValues> largest_;
  };
  std::shared_ptr<Seen> seen_;
  Multiplier<double> doubles_;  // W
  Multiplier<float> floats_;
};

}  // namespace demix
