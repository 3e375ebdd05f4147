#pragma once

#include <optional>
#include <vector>

#include "demix/natural_network.hpp"
#include "demix/random.hpp"
#include "demix/stream_separator.hpp"
#include "online/change_detector.hpp"
#include "online/one_pass_ica.hpp"
#include "online/outlier_gate.hpp"
#include "online/reservoir.hpp"

/// What is behind StreamSeparator, in double whatever the stream is in:
///
///   frame -> y = U (x - mean) -> gate -> block -> detector, one-pass ICA -> U
///
/// with a filter, if there is one, before the gate,
/// with one piece of the work on U at each step. Learning from replay or from the frame, it is
/// the network instead.
namespace demix {

/// Share of an output's power that may be new for it to count as settled: crosstalk of 20 dB.
inline constexpr double settled_share = 0.01;

class StreamEngine {
 public:
  StreamEngine(Index channels, const StreamOptions& options, double resolution);

  /// What its fields take at least, saved, and most of the memory it takes; by validated options.
  static double least_bytes(Index channels, const StreamOptions& options);

  const StreamOptions& options() const { return options_; }
  Index channels() const { return n_; }
  Index outputs() const { return outputs_; }
  Index block() const { return X_.cols(); }
  std::int64_t frames() const { return frames_; }

  Vector<double> x;  ///< the frame, put in by the caller (rows padded for the kernels)
  Vector<double> y;  ///< its output
  bool step();       ///< false: refused
  void finish();

  void start(const Model& model, bool freeze);
  void freeze(bool frozen) { frozen_ = frozen; }
  bool frozen() const { return frozen_; }

  Matrix<double> unmixing() const;
  void copy_unmixing(Matrix<double>& U) const;
  const Matrix<double>& mixing() const { return mixing_; }
  const Vector<double>& mean() const { return network_ ? network_->mean() : mean_; }
  Eigen::Ref<const Vector<double>> learned_frame() const { return (filter_ ? filtered_ : x).head(n_); }
  void note(NetworkTrace& trace) const;
  StreamStatus status() const;
  StreamCounts counts() const;
  Model model() const;  ///< after finish()

  template <typename Archive>
  void fields(Archive& a) {
    if (filter_) a(*filter_, filtered_, filtered_mean_, running_mean_, running_count_);
    a(frames_, refused_, outliers_, changes_, last_change_, pending_, gate_open_, ordered_, relearning_,
      hold_, frozen_, next_look_, since_look_, moved_, rank_, U_, mixing_, then_, mean_, X_, Y_, y, past_,
      past_size_, past_at_, slot_of_, detector_, gate_, sample_, random_);
    if (network_) {
      a(*network_);
    } else {
      a(*learner_);
    }
  }
  void loaded() const;

 private:
  bool refuse();
  bool network_step(bool usable);
  double project(const Eigen::Ref<const Vector<double>>& frame, const Vector<double>& mean,
                 Vector<double>& out);
  void run_filter(const Eigen::Ref<const Vector<double>>& frame);
  const Vector<double>& learned_output() const { return filter_ ? filtered_output_ : y; }
  const Vector<double>& learned_mean() const { return filter_ ? filtered_mean_ : mean(); }
  void follow_mean(const Eigen::Ref<const Vector<double>>& frame);
  void collect();
  void open_gate();
  void learn(const Eigen::Ref<const Vector<double>>& frame, const Vector<double>& output);
  void begin_anew();
  void work();
  double relearn() const { return std::max<double>(512, 4 * static_cast<double>(n_)); }
  bool holds();
  void adopt();
  void assign(Index r);
  void look(Index r);
  void sort_by_kurtosis(Index r);
  std::vector<Index> outputs_in_use() const;
  double learned() const;
  const Reservoir& sample() const { return network_ ? sample_ : learner_->reservoir(); }

  StreamOptions options_;
  Index n_;  // channels
  Index outputs_;
  std::optional<NaturalNetwork<double>> network_;  // learning from replay or from the frame
  std::optional<OnePassIca> learner_;              // or learning in one pass
  std::optional<CausalFilter> filter_;             // of what it learns from
  ChangeDetector detector_;
  OutlierGate gate_;
  Reservoir sample_;  // of the network's frames; the learner has its own
  Random random_;

  std::int64_t frames_ = 0;
  std::int64_t refused_ = 0;
  std::int64_t outliers_ = 0;
  std::int64_t changes_ = 0;
  std::int64_t last_change_ = -1;

  Vector<double> filtered_, filtered_output_, filtered_mean_;  // the frame, its output, the mean with U
  Vector<double> running_mean_;                                // of the frames as they come
  double running_count_ = 0;

  Matrix<double> X_, Y_;  // the next block, and what was put out for it
  Index pending_ = 0;     // frames in it
  Matrix<double> past_;   // replay: the last frames; robust: the first ones, until the gate opens
  Index past_size_ = 0;
  Index past_at_ = 0;
  bool gate_open_ = false;

  Matrix<double> U_;       // rows padded for the kernels; 0 where not in use
  Matrix<double> mixing_;  // E[x y^T], channels x outputs
  Vector<double> mean_, centred_;
  Index rank_ = 0;           // outputs in use
  bool relearning_ = false;  // U is that of before a change, or of a model, until there is something better
  double hold_ = 0;          // frames for which a model is put out
  bool frozen_ = false;      // does not learn

  Matrix<double> then_;    // U when last looked at
  double next_look_ = 0;   // at this count
  double since_look_ = 0;  // frames
  double moved_ = 1;       // largest share of an output's power that is new since
  bool ordered_ = false;   // they have come to rest once and been put in order

  Matrix<double> overlap_, rows_, columns_;  // where U is put in order
  std::vector<Index> slot_of_;               // of each row
  std::vector<Index> order_;
  std::vector<char> taken_;
};

}  // namespace demix
