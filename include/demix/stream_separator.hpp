#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "demix/causal_filter.hpp"
#include "demix/model.hpp"
#include "demix/network_trace.hpp"
#include "demix/weight.hpp"

/// A separator to put on a live stream and forget: one frame in, one frame of sources out, nothing to tune.
///
///   y = U (x - mean),   U from what has been learned before this frame
///
/// Learning in `one_pass`, the default, is as accurate as FastICA of all the frames so far and does not mind
/// their order, for any number of channels: running sums that move along with U, and a uniform sample of the
/// past that tells when they no longer describe it. docs/streams.md says more.
namespace demix {

struct StreamOptions {
  enum class Learn {
    one_pass,  ///< running sums and a sample of the past
    replay,    ///< the network, one frame drawn from the last `replay` for each that comes in
    frame      ///< the network, from the frame at hand: needs them in a random order
  };
  Learn learn = Learn::one_pass;
  Index components = 0;  ///< outputs, the strongest principal components; 0 = one per channel
  /// Frames after which one counts 1/e (track); 0 = all count for ever (converge). One-pass only.
  double memory = 0;
  bool robust = false;             ///< do not learn from frames of outlying size. One-pass only
  double saturation = 0;           ///< frames with a value of this size or more teach nothing; 0 = no limit
  Index replay = 16384;            ///< frames kept to draw from
  std::uint64_t seed = 0;          ///< of the network's start and of the draws
  Weight weight = Weight::square;  ///< the network's modulator w(||y||^2). Not with one-pass
  /// What is learned from: the frames as they leave this filter. One-pass only; empty = the frames as they
  /// are. Outputs are of the frames as they are, unless `filter_output`.
  Filter filter = {};
  bool filter_output = false;

  static constexpr double least_memory = 1024;
  static constexpr double most_memory = 1e15;
  static constexpr std::size_t most_sections = 64;  // of the filter

  void validate(Index channels) const;
  bool operator==(const StreamOptions&) const = default;
};

std::string_view learn_name(StreamOptions::Learn learn);
StreamOptions::Learn learn_named(std::string_view name);  ///< throws std::invalid_argument listing the names

struct StreamStatus {
  std::int64_t frames = 0;    ///< seen, refused ones too
  std::int64_t refused = 0;   ///< with NaN, Inf, or saturated
  std::int64_t outliers = 0;  ///< put out, but not learned from (robust)
  Index rank = 0;             ///< outputs in use; the others are 0
  bool settled = false;  ///< the outputs have hardly turned since half as many frames; their order is fixed
  double moved = 1;      ///< how far they have: largest share of an output's power that is new
  /// Crosstalk to expect, by batch means; at most 1. Nothing while it is not known: of fewer than 32 frames,
  /// of a single output, of the network without frames, of outputs from before a change or from a model.
  std::optional<double> expected_mse;
  Vector<double> kurtosis;        ///< of each output in use; NaN = not known
  Vector<double> kurtosis_error;  ///< its standard error, if the frames are independent; NaN = not known
  std::vector<std::pair<Index, Index>> unresolved;  ///< outputs that may still be mixed
  /// Of the whitener, channels scaled to unit variance. Nothing while the rank is not known, and of the
  /// network.
  std::optional<double> condition;
  std::int64_t changes = 0;       ///< of the mixing, noticed
  std::int64_t last_change = -1;  ///< frame at which the last one was noticed; -1 = never
};

/// What of it takes no time to say, at every step if need be.
struct StreamCounts {
  std::int64_t frames = 0, refused = 0, outliers = 0;
  Index rank = 0;
  bool settled = false;
  double moved = 1;
  std::int64_t changes = 0;
  std::int64_t last_change = -1;
  double learned = 0;  ///< frames, by what they still count
};

/// One line on frames that were refused; "" if none were.
std::string refused_text(const StreamStatus& status);

class StreamEngine;

template <typename T>
class StreamSeparator {
 public:
  explicit StreamSeparator(Index channels, const StreamOptions& options = {});
  ~StreamSeparator();
  StreamSeparator(const StreamSeparator& other);
  StreamSeparator& operator=(const StreamSeparator& other);
  StreamSeparator(StreamSeparator&&) noexcept;
  StreamSeparator& operator=(StreamSeparator&&) noexcept;

  /// One frame. The output is 0 until the first block() frames have been seen. A frame with NaN, Inf or
  /// values beyond 1e75 is refused: output 0, nothing learned, false. A saturated one is put out, but also
  /// refused: false. Throws only for vectors of the wrong length. In one pass it allocates nothing; heavy
  /// work is spread over the steps, a piece with each. (Robust, the first frames wait until it can be told
  /// which are outliers; the step that tells does all of that at once, and allocates.)
  bool step(const Eigen::Ref<const Vector<T>>& x, Eigen::Ref<Vector<T>> y);
  /// Many frames, with the result of so many steps. Returns how many were refused.
  Index process(const Frames<T>& X, Eigen::Ref<Matrix<T>> Y);

  /// Begins with the matrix of a model, before the first frame: its components are the first outputs, in its
  /// order. The stream learns beside it and takes over when it has seen as many frames as the model was made
  /// of, or when the model's outputs turn out to be correlated; with `freeze` never. Throws
  /// std::invalid_argument if the model has other channels or too many components, after the first frame, and
  /// if it is the network that learns.
  void start(const Model& model, bool freeze = false);

  /// From the next frame on, does not learn, or learns again; outputs go on. Also after start().
  void freeze(bool frozen);
  bool frozen() const;

  Index channels() const;
  Index outputs() const;
  Index block() const;  ///< frames between additions to the sums
  std::int64_t frames() const;
  const StreamOptions& options() const;

  Matrix<double> unmixing() const;  ///< U of now, outputs x channels; rows of outputs not in use are 0
  void copy_unmixing(Matrix<double>& U) const;  ///< in one pass allocates nothing if U has its size
  /// E[x y^T], channels x outputs: what each output adds to the channels. 0 if it learns with the network.
  const Matrix<double>& mixing() const;
  const Vector<double>& mean() const;  ///< of the channels, with U: y = U (x - mean)
  /// The last frame as it was learned from: as it leaves the filter.
  Eigen::Ref<const Vector<double>> filtered() const;
  StreamStatus status() const;  ///< takes longer than a step
  StreamCounts counts() const;  ///< takes no time

  /// Learning with the network: the last frame into the trace. Else nothing.
  void note(NetworkTrace& trace) const;

  /// Brings U up to date with every frame seen, for the end of a stream.
  void finish();
  /// What finish() would come to, with what is to be said about it; the stream itself goes on as if not
  /// asked. Components have the order and signs of the outputs. Throws std::invalid_argument if nothing
  /// varied so far.
  Model model() const;

  /// Everything, to go on later bit for bit as if never stopped.
  std::string state() const;
  /// Throws std::invalid_argument if it is not a state, is damaged, or is of another version or scalar type.
  static StreamSeparator restore(std::string_view state);

 private:
  std::unique_ptr<StreamEngine> engine_;  // in double, whatever T is
};

extern template class StreamSeparator<float>;
extern template class StreamSeparator<double>;

}  // namespace demix
